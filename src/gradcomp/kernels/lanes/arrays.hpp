#pragma once
// Arrays that plans make in prepare().
#include <string>

#include "gradcomp/core/copies.hpp"

namespace gradcomp::kernels {

/// An array of zeros.
template <class T>
Vector<T> zeroed(const std::string& label, index_t count) {
  return Vector<T>(label, static_cast<std::size_t>(count));
}

/// The first `count` elements of an array, in the same memory.
template <class T>
Vector<T> first_of(const Vector<T>& room, index_t count) {
  return Kokkos::subview(room, Kokkos::pair<std::size_t, std::size_t>(0, static_cast<std::size_t>(count)));
}

}  // namespace gradcomp::kernels
