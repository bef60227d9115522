#pragma once
// The one door through which the layers of a device wait for it (docs/concepts.md, "What the host may know"): to bring
// a few values to the host, or because code that is no kernel comes next. In a step only methods pass it whose Info
// says host_sizes.
#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// Waits for what exec was given so far. `reason` is the name that profilers and tests see.
void wait(const Exec& exec, const char* reason);

/// host[0 ..] = the elements of `device`. Waits for exec.
template <class T>
void read_back(const Exec& exec, const Span<const T>& device, T* host, const char* reason) {
  Kokkos::deep_copy(exec, HostSpan<T>(host, device.size()), device);
  wait(exec, reason);
}

}  // namespace gradcomp
