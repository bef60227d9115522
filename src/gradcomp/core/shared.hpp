#pragma once
// Small arrays that host and kernels share: what a step tells its kernels, and what it wants to know of them. Nothing
// is copied, so nothing waits but wait() (core/read_back.hpp).
#include "gradcomp/core/types.hpp"

namespace gradcomp {

#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
using SharedMemory = Kokkos::SharedHostPinnedSpace;
#else
using SharedMemory = Kokkos::HostSpace;
#endif

/// Owning array in memory of the host that kernels reach: slow for them, for a few values of each segment. The host
/// reads what kernels wrote behind a wait(), and writes behind one what kernels of an earlier step may still read.
template <class T>
using Shared = Kokkos::View<T*, SharedMemory>;

/// What kernels wrote to device memory that is the host's own (device_is_host); never to be read elsewhere.
template <class T>
HostSpan<const T> seen_by_host(const Vector<T>& device) {
  return HostSpan<const T>(device.data(), device.size());
}

}  // namespace gradcomp
