#include "gradcomp/kernels/lanes/elementwise.hpp"

#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

void scale(const Exec& exec, const Span<float>& x, float factor) {
  for_elements(
      "gradcomp::kernels::scale", exec, static_cast<index_t>(x.size()), KOKKOS_LAMBDA(index_t i) { return x(i); },
      KOKKOS_LAMBDA(index_t i, const float& value) { x(i) = value * factor; });
}

}  // namespace gradcomp::kernels
