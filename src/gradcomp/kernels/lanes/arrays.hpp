#pragma once
// Arrays that plans allocate in prepare().
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

/// `room` holds the parts of one run, each with `length` elements. Returns those of its first `count` elements, in the
/// same memory, with the last one shortened. `begin`: [2] first part of the run and the end of its parts; may be empty.
template <class Part>
static Vector<Part> shortened(const char* label, const Exec& exec, const Vector<Part>& room,
                              const Vector<index_t>& begin, index_t length, index_t count) {
  const index_t parts = (count + length - 1) / length;
  const Vector<Part> kept = first_of(room, parts);
  Kokkos::parallel_for(
      label, IndexRange(exec, 0, parts + 1), KOKKOS_LAMBDA(const index_t p) {
        const index_t left = count - p * length;
        if (p < parts) {
          kept(p).count = static_cast<decltype(Part::count)>(left < length ? left : length);
        } else if (begin.size() > 1) {
          begin(1) = parts;
        }
      });
  return kept;
}

}  // namespace gradcomp::kernels
