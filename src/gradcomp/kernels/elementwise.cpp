#include "gradcomp/kernels/elementwise.hpp"

namespace gradcomp::kernels {

using Elements = Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>;

void assign(const Exec& exec, const Span<float>& to, const Span<const float>& from, const Gate& gate) {
  if (!gate.may_open()) return;
  Kokkos::parallel_for(
      "gradcomp::kernels::assign", Elements(exec, 0, static_cast<index_t>(to.size())), KOKKOS_LAMBDA(const index_t i) {
        if (gate.open()) to(i) = from(i);
      });
}

void scale(const Exec& exec, const Span<float>& x, float factor) {
  Kokkos::parallel_for(
      "gradcomp::kernels::scale", Elements(exec, 0, static_cast<index_t>(x.size())),
      KOKKOS_LAMBDA(const index_t i) { x(i) *= factor; });
}

}  // namespace gradcomp::kernels
