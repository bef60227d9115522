#pragma once
// Copies of whole arrays between host and device, for preparations before steps and for checks after them.
#include <string>
#include <vector>

#include "gradcomp/core/read_back.hpp"

namespace gradcomp {

/// Returns a device copy of a host list. Waits for the device.
template <class T>
Vector<T> upload(const std::string& label, const std::vector<T>& list) {
  const Vector<T> device(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), list.size());
  Kokkos::deep_copy(device, HostSpan<const T>(list.data(), list.size()));
  return device;
}

/// Returns a host copy of an array. Waits for exec, as read_back() does.
template <class Array, class T = typename Array::non_const_value_type>
std::vector<T> to_host(const Exec& exec, const Array& device, const char* reason = "gradcomp::core::to_host") {
  std::vector<T> host(device.size());
  read_back(exec, Span<const T>(device), host.data(), reason);
  return host;
}

}  // namespace gradcomp
