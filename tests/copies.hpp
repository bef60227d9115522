#pragma once
// Values from the host to the device and back, each behind everything that was launched before.
#include <vector>

#include "gradcomp/core/copies.hpp"

namespace gradcomp::test {

/// A device copy of host values.
template <class T>
Vector<T> to_device(const std::vector<T>& values) {
  return upload("gradcomp::test::values", values);
}

/// The same into device memory for as many elements.
template <class T>
void to_device(const std::vector<T>& values, T* device) {
  Kokkos::deep_copy(Span<T>(device, values.size()), HostSpan<const T>(values.data(), values.size()));
}
template <class T>
void to_device(const std::vector<T>& values, const Vector<T>& device) {
  Kokkos::deep_copy(device, HostSpan<const T>(values.data(), values.size()));
}

/// A host copy of `count` elements.
template <class T>
std::vector<T> to_host(const T* device, index_t count) {
  std::vector<T> host(static_cast<std::size_t>(count));
  if (count > 0) Kokkos::deep_copy(HostSpan<T>(host.data(), host.size()), Span<const T>(device, host.size()));
  return host;
}

/// A host copy of an array.
template <class Array, class T = typename Array::non_const_value_type>
std::vector<T> to_host(const Array& device) {
  return to_host<T>(device.data(), static_cast<index_t>(device.size()));
}

}  // namespace gradcomp::test
