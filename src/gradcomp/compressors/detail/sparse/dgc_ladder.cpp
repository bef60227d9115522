#include "gradcomp/compressors/detail/sparse/dgc_ladder.hpp"

#include "gradcomp/compressors/detail/sparse/search_thresholds.hpp"

namespace gradcomp::compressors {

void search_candidates(const Exec& exec, const Source& source, const DgcState& state, bool paper, bool host_looks) {
  const Searched all = state.searched();
  const auto sampled = state.sampler.searches();
  const auto ladders = state.ladders;
  search_thresholds(
      exec, state.above, state.tiles, source.accumulated(), state.selector.shortlist(state.tiles, state.first), ladders,
      DgcLadder::max_reads, host_looks,
      KOKKOS_LAMBDA(const index_t s) {
        const std::int32_t threshold = sampled(s).rank > 0 ? sampled(s).high : 0;
        ladders(s) = {Kokkos::bit_cast<float>(threshold), min_candidates(all.selections[s].k), 0, threshold == 0};
      },
      KOKKOS_LAMBDA(const index_t s) {
        if (sampled(s).rank == 0 || sampled(s).high == 0)
          return;  // T = 0: all are candidates, hence the exact k largest
        kernels::Selection& selection = all.selections[s];
        choose_above(selection, ladders(s).bound());
        selection.capacity = max_candidates(selection.k);
        selection.min_entries = paper ? 0 : min_candidates(selection.k);
        selection.cut = paper ? selection.k : 0;
      });
}

void keep_momentum(const Exec& exec, const Source& source, const DgcState& state) {
  const auto elements = state.whole;
  const auto kept = state.momentum;
  Kokkos::parallel_for(
      "gradcomp::compressors::keep_momentum", IndexRange(exec, 0, static_cast<index_t>(elements.size())),
      KOKKOS_LAMBDA(const index_t j) { kept(j) = source.velocity[elements(j)]; });
}

void restore_momentum(const Exec& exec, const Source& source, const DgcState& state) {
  const auto elements = state.whole;
  const auto kept = state.momentum;
  Kokkos::parallel_for(
      "gradcomp::compressors::restore_momentum", IndexRange(exec, 0, static_cast<index_t>(elements.size())),
      KOKKOS_LAMBDA(const index_t j) { source.velocity[elements(j)] = kept(j); });
}

}  // namespace gradcomp::compressors
