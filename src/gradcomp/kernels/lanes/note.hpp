#pragma once
// Kernels note here what they found wrong: a sum over the lanes of a warp. If all lanes are 0, as they nearly always
// are, memory is not accessed.
#include "gradcomp/core/payload.hpp"
#include "gradcomp/kernels/lanes/prefetch.hpp"

namespace gradcomp::kernels {

/// Admission::admits(). One lane counts a payload that is not admitted.
KOKKOS_FORCEINLINE_FUNCTION bool admits(const Warp& warp, const Admission& admission, bool first) {
  if (admission.admits(false)) return true;
  if (first) warp.once([&] { admission.admits(true); });
  return false;
}

/// The same for a unit that adds to each of the `count` elements at `target` once, and to no others. They become 0 if
/// the payload is the first of a sum and is not admitted.
KOKKOS_FORCEINLINE_FUNCTION bool may_add(const Warp& warp, const Admission& admission, bool first, float* target,
                                         index_t count) {
  if (admission.admits(false)) return true;
  if (admission.from_zero) {
    fill_zero(warp, target, count);
    warp.sync();
  }
  return admits(warp, admission, first);
}

/// Adds value(l, load(e)) to each of `count` elements at `target`, on lane l = e mod 32.
template <class Load, class Value>
KOKKOS_FORCEINLINE_FUNCTION void add_values(const Warp& warp, const Admission& admission, float* target, index_t count,
                                            const Load& load, const Value& value) {
  struct Both {
    decltype(load(index_t{})) x;
    float before;
  };
  for_parts(target, count, [&](index_t begin, index_t size) {
    each_element(
        warp, size, [&](index_t e) { return Both{load(begin + e), admission.before(target[begin + e])}; },
        [&](int l, index_t e, const Both& both) { target[begin + e] = both.before + value(l, both.x); });
  });
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
