#include "gradcomp/kernels/select/tail_sums.hpp"

namespace gradcomp::kernels {

TailSums::TailSums(const Tiles& tiles)
    : m_partial(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::kernels::tail_partial"),
                static_cast<std::size_t>(tiles.count())),
      m_thresholds("gradcomp::kernels::tail_thresholds", static_cast<std::size_t>(tiles.segments())),
      m_begin(tiles.begin) {}

index_t TailSums::bytes() const {
  return static_cast<index_t>(m_partial.size() * sizeof(Tail) + m_thresholds.size() * sizeof(float));
}

}  // namespace gradcomp::kernels
