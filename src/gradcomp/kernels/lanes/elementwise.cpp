#include "gradcomp/kernels/lanes/elementwise.hpp"

namespace gradcomp::kernels {

void assign(const Exec& exec, const Span<float>& to, const Span<const float>& from, const Gate& gate) {
  if (!gate.may_open()) return;
  for_elements(
      "gradcomp::kernels::assign", exec, static_cast<index_t>(to.size()), KOKKOS_LAMBDA(index_t i) { return from(i); },
      KOKKOS_LAMBDA(index_t i, const float& x) {
        if (gate.open()) to(i) = x;
      });
}

void scale(const Exec& exec, const Span<float>& x, float factor) {
  for_elements(
      "gradcomp::kernels::scale", exec, static_cast<index_t>(x.size()), KOKKOS_LAMBDA(index_t i) { return x(i); },
      KOKKOS_LAMBDA(index_t i, const float& value) { x(i) = value * factor; });
}

}  // namespace gradcomp::kernels
