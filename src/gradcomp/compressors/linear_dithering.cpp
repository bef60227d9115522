// linear_dithering: stochastic rounding to the levels 0, v/s, 2v/s .. v, where v is the largest magnitude or the L2
// norm of a group, by default a whole tensor (random dithering: Alistarh et al., NeurIPS 2017; as in BytePS, Jiang et
// al., OSDI 2020, whose norm covers the whole tensor).
//
// q = s |a| / v, rounded stochastically. E[decoded] = a, and the variance of an element is (v/s)^2 f (1 - f), f the
// fraction of s |a| / v. Hence w <= min(n / (4 s^2), sqrt(n) / s) for a group of n elements. The number of levels is s
// = 2^(bits-1) - 1, or levels=s. With a residual, v is divided by 1 + w (scale=auto). Without this a long tensor with
// few levels diverges; so scale=none refuses a feedback if w >= 1.
//
// A group of zeros has v = 0. Otherwise v is at least 2^-90 (still unbiased) and at most 3.4e38. NaN and infinity flag
// the step.
//
// Payload: f32 v of every group, then the codes: 0 = zero, 2q = +q, 2q - 1 = -q (kernels/quantise/code_plan.hpp).
// coding=elias sends BytePS' stream of gaps and levels in Elias delta codes if it is shorter
// (detail/levels/elias_stage.hpp). Passes (R: read, W: write): 2R + bits/32 W; with a residual 3R + 2W.
#include "gradcomp/compressors/detail/levels/coded.hpp"
#include "gradcomp/compressors/detail/levels/norms.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
namespace {

struct LinearExcess {
  KOKKOS_INLINE_FUNCTION static double of(double levels, double n) { return linear_excess(levels, n); }
};

}  // namespace

Entry linear_dithering() {
  Info info = dithering_info("8", "number s of levels; 0: 2^(bits - 1) - 1");
  info.name = "linear_dithering";
  info.summary = "unbiased stochastic rounding to equally spaced levels of a tensor's norm";
  info.paper = "Alistarh et al., QSGD, NeurIPS 2017; Jiang et al., BytePS, OSDI 2020";
  info.bytes_formula =
      "sum over tensors of 4 ceil(n / group) + ceil(n b / 8), b = ceil(log2(2 s + 1)); group=tensor: 4 + ..., empty "
      "ones 0; coding=elias: at most that";
  info.compress = {2, 0, 0};
  return dithering_entry<DitheringScheme<kernels::LinearCodec, LinearExcess>>(info);
}

}  // namespace gradcomp::compressors
