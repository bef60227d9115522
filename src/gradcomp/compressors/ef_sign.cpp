// EF-signSGD (Karimireddy, Rebjock, Stich, Jaggi, "Error feedback fixes SignSGD and other gradient compression
// schemes", ICML 2019, algorithm 2).
//
// Per tensor (granularity=bucket: of the whole bucket) s = ||a||_1 / n; decoded -s where a < 0, else +s. A contraction:
// ||a - C(a)||^2 = (1 - delta) ||a||^2, delta = ||a||_1^2 / (n ||a||_2^2) >= 1 / n. The authors' code has sign(0) = 0,
// which one bit cannot say; the residual follows what is decoded. With the scale ||a||_2 / sqrt(n) of other one-bit
// methods it would be none: a single nonzero element has a relative error of almost 2.
// Where the sum of magnitudes overflows (means above 1e36), s = max|a| / n, which contracts too.
// Sections: f32 s, one per tensor; sign words of every tensor (kernels/signs.hpp).
#include "gradcomp/compressors/ef_sign.hpp"

#include "gradcomp/compressors/detail/dense_bytes.hpp"
#include "gradcomp/kernels/moments.hpp"
#include "gradcomp/kernels/signs.hpp"

namespace gradcomp::compressors {
namespace {

std::vector<kernels::SignRun> tensor_runs(const Layout& layout) {
  std::vector<kernels::SignRun> runs;
  for (const auto& segment : layout.segments) runs.push_back({segment.offset, segment.count});
  return runs;
}

struct EfSignState final : DenseState {
  EfSignState(const Layout& bucket, index_t payload_bytes)
      : DenseState(bucket, payload_bytes),
        tiles(bucket),
        first(tiles),
        pieces(tensor_runs(bucket)),
        scales(bucket.segments.size()) {}
  index_t scratch_bytes() const override {
    return tiles.bytes() + first.bytes() + pieces.bytes() + static_cast<index_t>(payload.size());
  }

  kernels::Tiles tiles;
  kernels::FirstPass first;
  kernels::SignPieces pieces;
  std::vector<float> scales;  ///< on the host
};

float mean_magnitude(const kernels::Moments& moments, index_t n) {
  if (n == 0) return 0;
  const auto mean = static_cast<float>(moments.sum_abs / static_cast<double>(n));
  return Source::is_finite(mean) ? mean : Kokkos::bit_cast<float>(moments.max_bits) / static_cast<float>(n);
}

class EfSign final : public DenseBytes {
 public:
  using DenseBytes::DenseBytes;

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<EfSignState>(layout, payload_capacity(layout));
  }
  index_t payload_bytes(const Layout& layout, index_t) const override {
    index_t bytes = 0;
    for (const auto& segment : layout.segments) bytes += 4 * kernels::sign_words(segment.count) + 4;
    return bytes;
  }
  bool can_fit() const override { return true; }
  void fit(const Exec& exec, State& state, index_t count) const override {
    auto& own = static_cast<EfSignState&>(state);
    own.fit(count);
    own.tiles.fit(exec, count);
    own.pieces.fit(exec, count);
  }

 protected:
  bool encode(const Exec& exec, const Source& source, State& state, const Context&,
              std::byte* sections) const override {
    auto& own = static_cast<EfSignState&>(state);
    own.first.run(exec, own.tiles, source);
    if (own.first.non_finite() > 0) return false;  // what first() put into the memory is a itself
    const auto count = own.scales.size();
    for (std::size_t s = 0; s < count; ++s) {
      own.scales[s] = mean_magnitude(own.first.moments()[s], own.layout.segments[s].count);
    }
    auto* const scales = reinterpret_cast<float*>(sections);
    Kokkos::deep_copy(exec, Span<float>(scales, count), HostSpan<const float>(own.scales.data(), count));
    kernels::write_signs(exec, own.pieces, kernels::SentRows{source}, {scales, 1}, words(sections, own));
    return true;
  }
  bool decode(const Exec& exec, const std::byte* sections, float weight, State& state,
              const Span<float>& out) const override {
    const auto& own = static_cast<EfSignState&>(state);
    return kernels::add_signs(exec, own.pieces, words(sections, own), {reinterpret_cast<const float*>(sections), 1},
                              weight, out);
  }

 private:
  static std::uint32_t* words(std::byte* sections, const EfSignState& own) {
    return reinterpret_cast<std::uint32_t*>(sections) + own.scales.size();
  }
  static const std::uint32_t* words(const std::byte* sections, const EfSignState& own) {
    return reinterpret_cast<const std::uint32_t*>(sections) + own.scales.size();
  }
};

}  // namespace

Entry ef_sign() {
  Info info;
  info.name = "ef_sign";
  info.summary = "one bit per element and the mean magnitude of each tensor, with error feedback";
  info.paper = "Karimireddy et al., Error feedback fixes SignSGD and other gradient compression schemes, ICML 2019";
  info.family = Info::Family::quantiser;
  info.property = Info::Property::contraction;
  info.rounds = {MessageKind::bytes};
  info.reducers = {"allgather", "two_phase"};
  info.feedback = "residual";
  info.feedbacks = {"none", "residual", "ef21"};
  info.granularity = "tensor";
  info.bytes_formula = "sum over tensors of 4 ceil(n / 32) + 4";
  info.passes = 5;
  return make_entry<EfSign>(info);
}

}  // namespace gradcomp::compressors
