// EF-signSGD (Karimireddy, Rebjock, Stich, Jaggi, "Error feedback fixes SignSGD and other gradient compression
// schemes", ICML 2019, algorithm 2).
//
// Per tensor (granularity=bucket: of the whole bucket) s = ||a||_1 / n; decoded -s where a < 0, else +s. A contraction:
// ||a - C(a)||^2 = (1 - delta) ||a||^2, delta = ||a||_1^2 / (n ||a||_2^2) >= 1 / n. The authors' code has sign(0) = 0,
// which one bit cannot represent; the residual follows the decoded value.
// If the sum of the magnitudes of a tile of 4096 elements overflows (means above 8.3e34), s = max|a| / n, which is a
// contraction too.
//
// variant=paper applies the learning rate g before compression, as algorithm 2 does: p = g gradient + e, the parameters
// change by C(p), and e = p - C(p). Since C(c p) = c C(p) for c > 0, this is the present method with the residual
// e / g, which follows the rate: feedback.rate_aware=on. The optimiser then adds no momentum. Its weight decay acts
// after the exchange; in the authors' code both act before it.
//
// scale=l2: s = ||a||_2 / sqrt(n), as in DeepSpeed's 1-bit methods (Tang et al., 1-bit Adam, ICML 2021), which use it
// for each buffer and phase: granularity=bucket:reducer=two_phase. It is not always a contraction: the relative error
// ||a - C(a)||^2 / ||a||^2 = 2 (1 - ||a||_1 / (sqrt(n) ||a||_2)) is almost 2 if only one element is nonzero, and 0.4
// for normal values. If squares are out of a float's range (max|a| above 1e17 or below 1e-15), s is the mean magnitude,
// which is never larger.
// Sections: f32 s, one per tensor; sign words of every tensor (kernels/pack/signs.hpp).
#include <utility>

#include "gradcomp/compressors/detail/dense/dense_bytes.hpp"
#include "gradcomp/core/copies.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/pack/signs.hpp"
#include "gradcomp/kernels/select/moments.hpp"

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
        first(tiles, kernels::Statistics::magnitudes),
        pieces(tensor_runs(bucket)),
        parts("gradcomp::compressors::ef_sign::parts", pieces.piece.size()),
        sums("gradcomp::compressors::ef_sign::sums", bucket.segments.size()),
        counts(upload("gradcomp::compressors::ef_sign::counts", bucket.counts())) {}
  index_t scratch_bytes() const override {
    return tiles.bytes() + first.bytes() + pieces.bytes() + static_cast<index_t>(payload.size());
  }

  kernels::Tiles tiles;
  kernels::FirstPass first;
  kernels::SignPieces pieces;
  Vector<float> parts;     ///< sum of |a| of each piece
  Vector<double> sums;     ///< sum of |a| of each segment
  Vector<index_t> counts;  ///< elements of each segment
};

KOKKOS_INLINE_FUNCTION float mean_magnitude(const kernels::Moments& moments, index_t n) {
  if (n == 0) return 0;
  const auto mean = static_cast<float>(moments.sum_abs / static_cast<double>(n));
  return Source::is_finite(mean) ? mean : Kokkos::bit_cast<float>(moments.max_bits) / static_cast<float>(n);
}

KOKKOS_INLINE_FUNCTION float root_mean_square(const kernels::Moments& moments, index_t n) {
  const float most = Kokkos::bit_cast<float>(moments.max_bits);
  if (n == 0 || most < 1e-15f || most > 1e17f) return mean_magnitude(moments, n);
  return static_cast<float>(Kokkos::sqrt(moments.sum_squares / static_cast<double>(n)));
}

/// Computes scales[s] from the first pass, and notes whether all elements were finite.
void write_scales(const Exec& exec, const EfSignState& state, bool l2, float* scales) {
  const auto moments = state.first.on_device();
  const auto counts = state.counts;
  const Mark mark = state.mark();
  Kokkos::parallel_for(
      "gradcomp::compressors::ef_sign_scales", IndexRange(exec, 0, state.tiles.segments()),
      KOKKOS_LAMBDA(const index_t s) {
        scales[s] = l2 ? root_mean_square(moments(s), counts(s)) : mean_magnitude(moments(s), counts(s));
        if (moments(s).non_finite > 0) mark.set();
      });
}

/// Computes scales[s] from the sums of the only pass. Where the mean overflows, the segment is read again for its
/// largest magnitude.
void write_mean_scales(const Exec& exec, const Source& source, const EfSignState& state, float* scales) {
  const auto sums = state.sums;
  const auto counts = state.counts;
  const auto piece = state.pieces.piece;
  const auto begin = state.pieces.begin;
  kernels::for_warps(
      "gradcomp::compressors::ef_sign_means", exec, static_cast<index_t>(sums.size()),
      KOKKOS_LAMBDA(const kernels::Warp& warp, index_t s) {
        const index_t n = counts(s);
        float scale = n > 0 ? static_cast<float>(sums(s) / static_cast<double>(n)) : 0.0f;
        if (!Source::is_finite(scale)) {
          kernels::Lanes<std::int32_t> most;
          warp.each([&](int l) { most[l] = 0; });
          kernels::each_element(warp, n, [&](int l, index_t e) {
            const float a = source.load(piece(begin(s)).first + e);
            const std::int32_t bits = Source::is_finite(a) ? kernels::magnitude(a) : 0;
            most[l] = bits > most[l] ? bits : most[l];
          });
          scale = Kokkos::bit_cast<float>(warp.max(most)) / static_cast<float>(n);
        }
        warp.once([&] { scales[s] = scale; });
      });
}

class EfSign final : public DenseBytes {
 public:
  EfSign(Info info, ParameterValues options)
      : DenseBytes(with_options(std::move(info), options), options), m_l2(options.text("scale") == "l2") {}

  index_t payload_bytes(const Layout& layout, index_t) const override {
    index_t bytes = 0;
    for (const auto& segment : layout.segments) bytes += 4 * kernels::sign_words(segment.count) + 4;
    return bytes;
  }

 protected:
  std::unique_ptr<DenseState> make_state(const Layout& layout) const override {
    return std::make_unique<EfSignState>(layout, payload_capacity(layout));
  }
  void encode(const Exec& exec, const Step& step, DenseState& state, std::byte* sections) const override {
    const Source& source = step.source;
    auto& own = state.as<EfSignState>();
    auto* const scales = reinterpret_cast<float*>(sections);
    if (!source.has_memory() && !m_l2) {  // the bits do not depend on the scale, so that one read is enough
      kernels::first_signs(exec, own.pieces, source, own.mark(), words(sections, own), own.parts, own.sums);
      write_mean_scales(exec, source, own, scales);
      return;
    }
    own.first.launch(exec, own.tiles, source);
    write_scales(exec, own, m_l2, scales);
    kernels::write_signs(exec, own.pieces, kernels::SentRows{source}, {scales, 1}, own.mark(), words(sections, own));
  }
  void decode(const Exec& exec, const Sections& sections, DenseState& state, const Span<float>& out) const override {
    const auto& own = state.as<EfSignState>();
    kernels::add_signs(exec, own.pieces, words(sections.at, own), {reinterpret_cast<const float*>(sections.at), 1},
                       sections.weight, sections.admission, true, out);
  }
  void resize_plans(const Exec& exec, DenseState& state, index_t count) const override {
    auto& own = state.as<EfSignState>();
    own.tiles.resize(exec, count);
    own.pieces.resize(exec, count);
    Kokkos::deep_copy(exec, own.counts, count);
  }

 private:
  static Info with_options(Info info, const ParameterValues& options) {
    if (options.text("scale") == "l2") info.property = Info::Property::biased;
    info.rate_inside = options.text("variant") == "paper";
    return info;
  }
  static std::uint32_t* words(std::byte* sections, const EfSignState& own) {
    return reinterpret_cast<std::uint32_t*>(sections) + own.counts.size();
  }
  static const std::uint32_t* words(const std::byte* sections, const EfSignState& own) {
    return reinterpret_cast<const std::uint32_t*>(sections) + own.counts.size();
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
  info.reducer = "allgather";
  info.stripes = true;
  info.can_resize = true;
  info.feedback = "residual";
  info.feedbacks = {"none", "residual", "ef21"};
  info.granularity = "tensor";
  info.parameters = {Parameter::choice("scale", "l1", {"l1", "l2"},
                                       "magnitude of the decoded values; l1: mean of |a|; l2: root of the mean of a^2, "
                                       "which is not always a contraction"),
                     Parameter::choice("variant", "fixed", {"fixed", "paper"},
                                       "paper: the learning rate is inside the feedback (feedback.rate_aware=on), and "
                                       "no momentum follows")
                         .as_added()};
  info.bytes_formula = "sum over tensors of 4 ceil(n / 32) + 4";
  info.compress = {1, 0, 2};
  return make_entry<EfSign>(info);
}

}  // namespace gradcomp::compressors
