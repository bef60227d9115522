#include "gradcomp/kernels/select/count_above.hpp"

#include "gradcomp/core/shared.hpp"

namespace gradcomp::kernels {

CountAbove::CountAbove(const Tiles& tiles)
    : m_limits("gradcomp::kernels::count_limits", static_cast<std::size_t>(tiles.segments())),
      m_partial(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::kernels::count_partial"),
                static_cast<std::size_t>(tiles.count())),
      m_begin(tiles.begin) {}

bool CountAbove::any_asked(index_t segments) const {
  for (index_t s = 0; s < segments; ++s)
    if (counting().asked(s)) return true;
  return false;
}

index_t CountAbove::bytes() const {
  return static_cast<index_t>(m_limits.size() * sizeof(detail::ProbeLimits) +
                              m_partial.size() * sizeof(detail::ProbeCounts));
}

void count_once(const Exec& exec, const CountAbove& above, const Tiles& tiles, const float* a, const Shortlist& list,
                const Vector<Probes>& probes, const Vector<Counts>& counts) {
  const Counting counting = above.counting();
  for_few(
      "gradcomp::kernels::ask_counts", exec, tiles.segments(), device_is_host,
      KOKKOS_LAMBDA(const index_t s) { counting.ask(s, probes(s), list.low(s)); });
  above.run(
      exec, tiles, a, list.runs, device_is_host, KOKKOS_LAMBDA(const Block& block, index_t s) {
        const Counts found = counting.asked(s) ? counting.answer(block, s, probes(s)) : Counts{};
        block.once([&] { counts(s) = found; });
      });
}

}  // namespace gradcomp::kernels
