#include "gradcomp/compressors/natural_dithering.hpp"

#include "gradcomp/compressors/detail/levels/coded.hpp"
#include "gradcomp/compressors/detail/levels/norms.hpp"

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
  info.passes = 2.125;
  return dithering_entry<DitheringScheme<kernels::PowerDitherCodec, PowerExcess>>(info);
}

}  // namespace gradcomp::compressors
