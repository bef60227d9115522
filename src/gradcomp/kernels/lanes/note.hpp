#pragma once
// Kernels note here what they found wrong: a sum over the lanes of a warp. If all lanes are 0, as they nearly always
// are, memory is not accessed.
#include "gradcomp/core/payload.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

/// Admission::admits(), for a unit that adds to `count` elements at `target` and to no others. Sets them to 0 before if
/// the payload is the first of a sum, while they come into the first-level cache for the additions anyway.
KOKKOS_FORCEINLINE_FUNCTION bool may_add(const Warp& warp, const Admission& admission, bool first, float* target,
                                         index_t count) {
  if (admission.from_zero) {
    each_element(warp, count, [&](int, index_t e) { target[e] = 0; });
    warp.sync();
  }
  return admission.admits(first);
}

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
