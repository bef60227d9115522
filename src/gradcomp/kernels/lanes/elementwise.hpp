#pragma once
// Operations on whole arrays; some run only if a gate is open.
#include "gradcomp/core/tally.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

/// to = value, if `gate` is open.
template <class T>
static void fill(const Exec& exec, const Span<T>& to, T value, const Gate& gate) {
  if (!gate.may_open()) return;
  for_elements(
      "gradcomp::kernels::fill", exec, static_cast<index_t>(to.size()), KOKKOS_LAMBDA(index_t) { return value; },
      KOKKOS_LAMBDA(index_t i, const T& x) {
        if (gate.open()) to(i) = x;
      });
}

/// to = from, if `gate` is open.
void assign(const Exec& exec, const Span<float>& to, const Span<const float>& from, const Gate& gate);

/// x *= factor
void scale(const Exec& exec, const Span<float>& x, float factor);

}  // namespace gradcomp::kernels
