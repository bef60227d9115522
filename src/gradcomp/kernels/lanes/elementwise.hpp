#pragma once
// Operations on whole arrays; some run only if a gate is open.
#include "gradcomp/core/tally.hpp"

namespace gradcomp::kernels {

/// to = value, if `gate` is open.
template <class T>
void fill(const Exec& exec, const Span<T>& to, T value, const Gate& gate) {
  if (!gate.may_open()) return;
  Kokkos::parallel_for(
      "gradcomp::kernels::fill", IndexRange(exec, 0, static_cast<index_t>(to.size())), KOKKOS_LAMBDA(const index_t i) {
        if (gate.open()) to(i) = value;
      });
}

/// to = from, if `gate` is open.
void assign(const Exec& exec, const Span<float>& to, const Span<const float>& from, const Gate& gate);

/// x *= factor
void scale(const Exec& exec, const Span<float>& x, float factor);

}  // namespace gradcomp::kernels
