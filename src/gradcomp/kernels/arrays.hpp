#pragma once
// Small transfers between host and device that plans make in prepare() and calls make at their end.
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

/// Device copy of a host list.
template <class T>
Vector<T> upload(const std::string& label, const std::vector<T>& list) {
  const Vector<T> device(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), list.size());
  Kokkos::deep_copy(device, Kokkos::View<const T*, Kokkos::HostSpace>(list.data(), list.size()));
  return device;
}

/// The first `count` elements of an array, in the same memory.
template <class T>
Vector<T> first_of(const Vector<T>& room, index_t count) {
  return Kokkos::subview(room, Kokkos::pair<std::size_t, std::size_t>(0, static_cast<std::size_t>(count)));
}

/// count(0) on the host. Waits for exec.
inline index_t read_count(const Exec& exec, const Vector<index_t>& count) {
  index_t value = 0;
  Kokkos::deep_copy(exec, Kokkos::View<index_t, Kokkos::HostSpace>(&value), Kokkos::subview(count, 0));
  exec.fence("gradcomp::kernels::read_count");
  return value;
}

}  // namespace gradcomp::kernels
