// natural_dithering: stochastic rounding to the levels 0, 2^(1-k) v .. v/4, v/2, v, where v is the largest magnitude or
// the L2 norm of a group, by default a whole tensor (Horvath et al., MSML 2022; as in BytePS, Jiang et al., OSDI 2020).
//
// |a| between two powers is rounded as in natural, with variance at most a^2 / 8. Below t = 2^(1-k) v it is rounded to
// 0 or t, with variance |a| (t - |a|). It is unbiased, and w <= 1/8 + min(n 4^-k, sqrt(n) 2^(1-k)) for a group of n
// elements. The number of levels is k = 2^(bits-1) - 1, or levels=k. Each further level halves the smallest one: 3 bits
// (k = 3) reach v / 4, and 4 bits v / 64.
//
// With a residual, v is divided by 1 + w (scale=auto). scale=none refuses a feedback if w >= 1. A group of zeros has v
// = 0. Otherwise v is at least 2^-90 (still unbiased) and at most 3.4e38. NaN and infinity flag the step.
//
// Payload: f32 v of every group, then the codes: 0 = zero, 2q = + level q, 2q - 1 = - level q
// (kernels/quantise/code_plan.hpp). coding=elias sends BytePS' stream of gaps and levels in Elias delta codes if it is
// shorter (detail/levels/elias_stage.hpp). Passes (R: read, W: write): 2R + bits/32 W; with a residual 3R + 2W.
#include "gradcomp/compressors/detail/levels/coded.hpp"
#include "gradcomp/compressors/detail/levels/norms.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
namespace {

struct PowerExcess {
  KOKKOS_INLINE_FUNCTION static double of(double levels, double n) {
    const double smallest = Kokkos::exp2(1.0 - levels);
    const double by_levels = 0.25 * smallest * smallest * n;
    const double by_sum = Kokkos::sqrt(n) * smallest;
    return 0.125 + (by_levels < by_sum ? by_levels : by_sum);
  }
};

}  // namespace

Entry natural_dithering() {
  Info info = dithering_info("4", "number k of levels; 0: 2^(bits - 1) - 1");
  info.name = "natural_dithering";
  info.summary = "unbiased stochastic rounding to powers of two of a tensor's norm";
  info.paper = "Horvath et al., Natural compression for distributed deep learning, MSML 2022";
  info.bytes_formula =
      "sum over tensors of 4 ceil(n / group) + ceil(n b / 8), b = ceil(log2(2 k + 1)); group=tensor: 4 + ..., empty "
      "ones 0; coding=elias: at most that";
  info.compress = {2, 0, 0};
  return dithering_entry<DitheringScheme<kernels::PowerDitherCodec, PowerExcess>>(info);
}

}  // namespace gradcomp::compressors
