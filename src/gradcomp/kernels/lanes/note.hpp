#pragma once
// Kernels note here what they found wrong: a sum over the lanes of a warp. If all lanes are 0, as they nearly always
// are, memory is not accessed.
#include "gradcomp/core/payload.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

/// Gradient elements that are not finite: flags the message.
KOKKOS_FORCEINLINE_FUNCTION void note_bad(const Warp& warp, const Lanes<std::int32_t>& bad, const Mark& mark) {
  const std::int32_t total = warp.sum(bad);
  warp.once([&] {
    if (total > 0) mark.set();
  });
}

/// Sums over ranks that are not finite.
KOKKOS_FORCEINLINE_FUNCTION void note_diverged(const Warp& warp, const Lanes<std::int32_t>& bad,
                                               const FaultCounts& faults) {
  const std::int32_t total = warp.sum(bad);
  warp.once([&] {
    if (total > 0) faults.diverged();
  });
}

/// Scales, codes and padding that no sender writes.
KOKKOS_FORCEINLINE_FUNCTION void note_broken(const Warp& warp, const Lanes<std::int32_t>& bad,
                                             const FaultCounts& faults) {
  const std::int32_t total = warp.sum(bad);
  warp.once([&] {
    if (total > 0) faults.broken();
  });
}

}  // namespace gradcomp::kernels
