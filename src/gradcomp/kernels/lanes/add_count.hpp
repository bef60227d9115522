#pragma once
// Kernels report what they found with this function: a sum over lanes is added to a Tally.
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

/// count(0) += the sum of all lanes. If they are all 0, as they nearly always are, memory is not accessed.
KOKKOS_FORCEINLINE_FUNCTION void add_count(const Warp& warp, const Lanes<std::int32_t>& found,
                                           const Vector<index_t>& count) {
  const std::int32_t total = warp.sum(found);
  warp.once([&] {
    if (total > 0) Kokkos::atomic_add(&count(0), static_cast<index_t>(total));
  });
}

}  // namespace gradcomp::kernels
