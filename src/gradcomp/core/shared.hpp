#pragma once
// Small arrays that the host and kernels share: inputs of the kernels of a step, and their results. Nothing is copied,
// so the host waits only in wait() (core/read_back.hpp).
#include "gradcomp/core/types.hpp"

namespace gradcomp {

#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
using SharedMemory = Kokkos::SharedHostPinnedSpace;
#else
using SharedMemory = Kokkos::HostSpace;
#endif

/// An owning array in host memory that kernels can access. Devices access it slowly, so it is for a few values per
/// segment. After a wait(), the host may read what kernels wrote, and overwrite what kernels of an earlier step read.
template <class T>
using Shared = Kokkos::View<T*, SharedMemory>;

/// Device memory for reading on the host, in builds where both are the same (device_is_host). Other builds must not
/// read it.
template <class T>
HostSpan<const T> seen_by_host(const Vector<T>& device) {
  return HostSpan<const T>(device.data(), device.size());
}

}  // namespace gradcomp
