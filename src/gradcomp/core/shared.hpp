#pragma once
// Small arrays that host and kernels share: inputs of a step's kernels, and their answers. Nothing is copied, so only
// wait() waits (core/read_back.hpp).
#include "gradcomp/core/types.hpp"

namespace gradcomp {

#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
using SharedMemory = Kokkos::SharedHostPinnedSpace;
#else
using SharedMemory = Kokkos::HostSpace;
#endif

/// Owning array in memory of the host that kernels reach: slow for them, for a few values of each segment. After a
/// wait(), the host may read what kernels wrote, and may write what kernels of an earlier step were still reading.
template <class T>
using Shared = Kokkos::View<T*, SharedMemory>;

/// What kernels wrote to device memory, which is host memory (device_is_host); must not be read on other builds.
template <class T>
HostSpan<const T> seen_by_host(const Vector<T>& device) {
  return HostSpan<const T>(device.data(), device.size());
}

}  // namespace gradcomp
