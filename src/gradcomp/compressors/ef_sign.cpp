// EF-signSGD (Karimireddy, Rebjock, Stich, Jaggi, "Error feedback fixes SignSGD and other gradient compression
// schemes", ICML 2019, algorithm 2).
//
// Per tensor (granularity=bucket: of the whole bucket) s = ||a||_1 / n; decoded -s where a < 0, else +s. A contraction:
// ||a - C(a)||^2 = (1 - delta) ||a||^2, delta = ||a||_1^2 / (n ||a||_2^2) >= 1 / n. The authors' code has sign(0) = 0,
// which one bit cannot say; the residual follows what is decoded.
// Where the sum of magnitudes overflows (means above 1e36), s = max|a| / n, which contracts too.
//
// scale=l2: s = ||a||_2 / sqrt(n), as DeepSpeed's 1-bit methods have it (Tang et al., 1-bit Adam, ICML 2021), there for
// each buffer and phase: granularity=bucket:reducer=two_phase. Not always a contraction: the relative error
// ||a - C(a)||^2 / ||a||^2 = 2 (1 - ||a||_1 / (sqrt(n) ||a||_2)) is almost 2 where one element is nonzero, 0.4 for
// normal values. Where squares are out of a float's range (max|a| beyond 1e17 or below 1e-15), s is the mean magnitude,
// which is at most that.
// Sections: f32 s, one per tensor; sign words of every tensor (kernels/signs.hpp).
#include "gradcomp/compressors/ef_sign.hpp"

#include <cmath>
#include <utility>

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
        parts("gradcomp::compressors::ef_sign::parts", pieces.piece.size()),
        sums("gradcomp::compressors::ef_sign::sums", bucket.segments.size()),
        host_sums(bucket.segments.size()),
        scales(bucket.segments.size()) {}
  index_t scratch_bytes() const override {
    return tiles.bytes() + first.bytes() + pieces.bytes() + static_cast<index_t>(payload.size());
  }

  kernels::Tiles tiles;
  kernels::FirstPass first;
  kernels::SignPieces pieces;
  Vector<float> parts;  ///< sums of |a|: of pieces
  Vector<double> sums;  ///< of segments
  std::vector<double> host_sums;
  std::vector<float> scales;  ///< on the host
};

float mean_magnitude(const kernels::Moments& moments, index_t n) {
  if (n == 0) return 0;
  const auto mean = static_cast<float>(moments.sum_abs / static_cast<double>(n));
  return Source::is_finite(mean) ? mean : Kokkos::bit_cast<float>(moments.max_bits) / static_cast<float>(n);
}

float root_mean_square(const kernels::Moments& moments, index_t n) {
  const float most = Kokkos::bit_cast<float>(moments.max_bits);
  if (n == 0 || most < 1e-15f || most > 1e17f) return mean_magnitude(moments, n);
  return static_cast<float>(std::sqrt(moments.sum_squares / static_cast<double>(n)));
}

class EfSign final : public DenseBytes {
 public:
  EfSign(Info info, Options options)
      : DenseBytes(with_scale(std::move(info), options), options), m_l2(options.text("scale") == "l2") {}

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
    if (!source.has_memory() && !m_l2 && encode_at_once(exec, source, own, sections)) return true;
    own.first.run(exec, own.tiles, source);
    if (own.first.non_finite() > 0) return false;  // what first() put into the memory is a itself
    const auto count = own.scales.size();
    for (std::size_t s = 0; s < count; ++s) {
      const auto& moments = own.first.moments()[s];
      const index_t n = own.layout.segments[s].count;
      own.scales[s] = m_l2 ? root_mean_square(moments, n) : mean_magnitude(moments, n);
    }
    write_scales(exec, own, sections);
    auto* const scales = reinterpret_cast<float*>(sections);
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
  /// Nothing is to be remembered, so the bits need not wait for the scale: one read. False where an element is not
  /// finite or a sum overflows.
  static bool encode_at_once(const Exec& exec, const Source& source, EfSignState& own, std::byte* sections) {
    const index_t bad = kernels::first_signs(exec, own.pieces, source, words(sections, own), own.parts, own.sums);
    Kokkos::deep_copy(HostSpan<double>(own.host_sums.data(), own.host_sums.size()), own.sums);
    bool finite = bad == 0;
    for (std::size_t s = 0; s < own.scales.size(); ++s) {
      const index_t n = own.layout.segments[s].count;
      own.scales[s] = n > 0 ? static_cast<float>(own.host_sums[s] / static_cast<double>(n)) : 0.0f;
      finite = finite && Source::is_finite(own.scales[s]);
    }
    if (finite) write_scales(exec, own, sections);
    return finite;
  }
  static void write_scales(const Exec& exec, const EfSignState& own, std::byte* sections) {
    Kokkos::deep_copy(exec, Span<float>(reinterpret_cast<float*>(sections), own.scales.size()),
                      HostSpan<const float>(own.scales.data(), own.scales.size()));
  }
  static Info with_scale(Info info, const Options& options) {
    if (options.text("scale") == "l2") info.property = Info::Property::biased;
    return info;
  }
  static std::uint32_t* words(std::byte* sections, const EfSignState& own) {
    return reinterpret_cast<std::uint32_t*>(sections) + own.scales.size();
  }
  static const std::uint32_t* words(const std::byte* sections, const EfSignState& own) {
    return reinterpret_cast<const std::uint32_t*>(sections) + own.scales.size();
  }

  bool m_l2;
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
  info.parameters = {Parameter::choice("scale", "l1", {"l1", "l2"},
                                       "magnitude of the decoded values: l1: mean of |a|; l2: root of the mean of a^2, "
                                       "not always a contraction")};
  info.bytes_formula = "sum over tensors of 4 ceil(n / 32) + 4";
  info.passes = 5;
  return make_entry<EfSign>(info);
}

}  // namespace gradcomp::compressors
