#pragma once
// The scaler of TernGrad, and its payload of five codes to a byte.
#include "gradcomp/compressors/detail/levels/norms.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// s = min(max |a|, clip sigma); sigma is the standard deviation about the mean. Without clipping s = max |a|. Nothing
/// is clipped either if sigma is at most 2^-10 max |a|, as for one element or equal elements: clipping would lose
/// everything there, whereas unclipped equal elements are exactly +-s.
struct TernaryScale {
  double clip = 2.5;  ///< in units of sigma; 0: no clipping

  KOKKOS_INLINE_FUNCTION void operator()(const kernels::Range& range, float* own) const {
    const float largest = range.largest();
    const auto n = static_cast<double>(range.count);
    const double mean = range.sum / n, variance = range.squares / n - mean * mean;
    const double sigma = variance > 0 ? Kokkos::sqrt(variance) : 0.0, limit = clip * sigma;
    const bool flat = !(range.high > range.low) || sigma <= 0x1p-10 * static_cast<double>(largest);
    const bool clipped = clip > 0 && !flat && limit < static_cast<double>(largest);
    own[0] =
        clipped ? kernels::bounded_norm(static_cast<float>(limit), 0x1p-149f) : kernels::bounded_norm(largest, largest);
  }
};

/// TernGrad with code=base3. `info` declares one bytes round.
std::unique_ptr<Compressor> make_base3_ternary(Info info, const ParameterValues& options);

}  // namespace gradcomp::compressors
