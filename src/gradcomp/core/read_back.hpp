#pragma once
// The only place where layers wait for a device (docs/concepts.md, "What the host may know"): to bring a few values to
// the host, or because the next code is not a kernel. Within a step, only methods with Info::host_sizes wait here.
#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// Waits for what exec was given so far. `reason` is the name that profilers and tests see.
void wait(const Exec& exec, const char* reason);

/// Copies the elements of `device` to host[0 ..]. Waits for exec.
template <class T>
void read_back(const Exec& exec, const Span<const T>& device, T* host, const char* reason) {
  Kokkos::deep_copy(exec, HostSpan<T>(host, device.size()), device);
  wait(exec, reason);
}

}  // namespace gradcomp
