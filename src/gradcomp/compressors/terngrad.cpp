// terngrad: every element is sent as -s, 0 or +s, with a scaler s for each tensor (Wen et al., NeurIPS 2017). W is the
// number of ranks.
//
// a is clipped to +-clip sigma, sigma the tensor's standard deviation (clip = 2.5; 0: no clipping). q = sign(a) with
// probability |a| / s, otherwise 0. E[decoded] = clip(a), so the method is unbiased for clip=0. The variance of an
// element is |a| (s - |a|), hence w <= sqrt(n). With a residual it diverges, or learns nothing if it is scaled by 1 /
// (1 + w); so only feedback=none is allowed.
// s = min(max |a|, clip sigma). If sigma is 0 (one element, or equal elements), nothing is clipped and s = max |a|.
// Such tensors are then decoded exactly, as if they were sent raw.
//   code=sum    scaler sharing: round 0 is the maximum of the ranks' s (f32 per tensor), round 1 the sum of their q
//               (i8 per element), for at most 127 ranks. out = s / W * sum.
//   code=2bit   each rank's own s and 2-bit codes, gathered: ceil(n / 4) + 4 bytes per tensor.
//   code=base3  the same with five codes in a byte: ceil(n / 5) + 4 bytes.
// Only code=sum shares its scaler: a round of maxima before a gathered one would need a reducer of both kinds, and
// there is none. A tensor of zeros has s = 0; otherwise s is at least 2^-90 (still unbiased). NaN and infinity flag the
// step.
//
// Passes (R: read, W: write): 2R; code=sum writes n bytes, and decodes them with 1/4 R + 1W.
#include "gradcomp/compressors/detail/levels/summed_levels.hpp"
#include "gradcomp/compressors/detail/levels/ternary.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
namespace {

/// The Scheme of both Coded (code=2bit) and SummedLevels (code=sum).
struct TernaryScheme {
  using Codec = kernels::LinearCodec;
  static constexpr int max_levels = 1, sum_bits = 8;
  static constexpr const char* remedy = "another method";
  Codec codec;
  index_t length = 0;
  int bits = 2;
  bool shrinks = false;
  TernaryScale scales;

  static TernaryScheme from(const ParameterValues& options) {
    TernaryScheme scheme;
    scheme.scales.clip = options.real("clip");
    return scheme;
  }
  KOKKOS_INLINE_FUNCTION double excess(index_t n) const { return linear_excess(1, static_cast<double>(n)); }
  double excess(int levels, double n) const { return linear_excess(static_cast<double>(levels), n); }
};

std::unique_ptr<Compressor> make_terngrad(Info info, const ParameterValues& options) {
  const std::string& code = options.text("code");
  info.property = options.real("clip") > 0 ? Info::Property::contraction : Info::Property::unbiased;
  if (code == "sum") return std::make_unique<SummedLevels<TernaryScheme>>(info, options);
  info.rounds = {MessageKind::bytes};
  info.reducer = "allgather";
  info.stripes = true;
  if (code == "base3") return make_base3_ternary(info, options);
  return std::make_unique<Coded<TernaryScheme>>(info, options);
}

}  // namespace

Entry terngrad() {
  Info info;
  info.name = "terngrad";
  info.summary =
      "-s, 0 or +s for each element, after clipping at 2.5 standard deviations; all ranks share the scaler s";
  info.paper = "Wen et al., TernGrad, NeurIPS 2017";
  info.family = Info::Family::quantiser;
  info.property = Info::Property::contraction;  // on average: E[decoded] = clip(a)
  info.rounds = {MessageKind::summable, MessageKind::summable};
  info.reducer = "allreduce";
  info.feedbacks = {"none"};
  info.granularity = "tensor";
  info.parameters = {
      Parameter::real("clip", "2.5", 0, 100,
                      "standard deviations beyond which elements are clipped; 0: no clipping, unbiased"),
      Parameter::choice("code", "sum", {"sum", "2bit", "base3"},
                        "sum: shared scaler, integer sums; 2bit, base3: a scaler for each rank, gathered, 4 or 5 "
                        "elements per byte"),
  };
  info.bytes_formula = "sum over tensors that are not empty of n + 4 (2bit: ceil(n / 4) + 4, base3: ceil(n / 5) + 4)";
  info.compress = {2, 0, 0};
  return {info, [info](const ParameterValues& options) { return make_terngrad(info, options); }};
}

}  // namespace gradcomp::compressors
