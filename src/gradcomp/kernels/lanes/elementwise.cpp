#include "gradcomp/kernels/lanes/elementwise.hpp"

namespace gradcomp::kernels {

void assign(const Exec& exec, const Span<float>& to, const Span<const float>& from, const Gate& gate) {
  if (!gate.may_open()) return;
  Kokkos::parallel_for(
      "gradcomp::kernels::assign", IndexRange(exec, 0, static_cast<index_t>(to.size())),
      KOKKOS_LAMBDA(const index_t i) {
        if (gate.open()) to(i) = from(i);
      });
}

void scale(const Exec& exec, const Span<float>& x, float factor) {
  Kokkos::parallel_for(
      "gradcomp::kernels::scale", IndexRange(exec, 0, static_cast<index_t>(x.size())),
      KOKKOS_LAMBDA(const index_t i) { x(i) *= factor; });
}

}  // namespace gradcomp::kernels
