#pragma once
// Whole arrays at once, some of them only where a gate is open.
#include "gradcomp/core/tally.hpp"

namespace gradcomp::kernels {

/// to = value where `gate` is open.
template <class T>
void fill(const Exec& exec, const Span<T>& to, T value, const Gate& gate) {
  if (!gate.may_open()) return;
  Kokkos::parallel_for(
      "gradcomp::kernels::fill", IndexRange(exec, 0, static_cast<index_t>(to.size())), KOKKOS_LAMBDA(const index_t i) {
        if (gate.open()) to(i) = value;
      });
}

/// to = from where `gate` is open.
void assign(const Exec& exec, const Span<float>& to, const Span<const float>& from, const Gate& gate);

/// x *= factor
void scale(const Exec& exec, const Span<float>& x, float factor);

}  // namespace gradcomp::kernels
