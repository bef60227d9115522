#include "gradcomp/kernels/lanes/mark_sum.hpp"

namespace gradcomp::kernels {

void mark_sum(const Exec& exec, const Mark& mark, float value, const Span<float>& message) {
  if (message.size() == 0) return;
  if (device_is_host) {
    if (mark.is_set()) *message.data() = value;
    return;
  }
  Kokkos::parallel_for(
      "gradcomp::kernels::mark_sum", IndexRange(exec, 0, 1), KOKKOS_LAMBDA(const index_t) {
        if (mark.is_set()) message(0) = value;
      });
}

}  // namespace gradcomp::kernels
