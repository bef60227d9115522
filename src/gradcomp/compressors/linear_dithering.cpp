#include "gradcomp/compressors/linear_dithering.hpp"

#include "gradcomp/compressors/detail/levels/coded.hpp"
#include "gradcomp/compressors/detail/levels/norms.hpp"

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
  info.passes = 2.25;
  return dithering_entry<DitheringScheme<kernels::LinearCodec, LinearExcess>>(info);
}

}  // namespace gradcomp::compressors
