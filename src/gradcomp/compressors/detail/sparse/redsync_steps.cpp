#include "gradcomp/compressors/detail/sparse/redsync_steps.hpp"

#include "gradcomp/compressors/detail/sparse/search_thresholds.hpp"

namespace gradcomp::compressors {
namespace {

constexpr int counted_reads = 3;

}  // namespace

void search_counted(const Exec& exec, const Source& source, const RedsyncState& state, bool host_looks) {
  const Searched all = state.searched();
  const auto searches = state.counted;
  const auto memory = state.memory;
  search_thresholds(
      exec, state.above, state.tiles, source.accumulated(), state.selector.shortlist(state.tiles, state.first),
      searches, counted_reads, host_looks,
      KOKKOS_LAMBDA(const index_t s) {
        searches(s) = CountSearch();
        if (all.open[s] == 0) return;
        const index_t k = all.selections[s].k;
        const CountGoal goal{k, k, k + k / 4, 2 * k, counted_reads};
        searches(s) = CountSearch(goal, all.moments[s], memory(s).threshold, 0.25);
      },
      KOKKOS_LAMBDA(const index_t s) {
        const std::int32_t threshold = searches(s).threshold();
        if (threshold < 0) return;
        memory(s) = {all.selections[s].k, threshold, 0};
        choose_above(all.selections[s], threshold);
      });
}

void search_published(const Exec& exec, const Source& source, const RedsyncState& state, const RedsyncPolicy& policy,
                      bool host_looks) {
  const Searched all = state.searched();
  const auto searches = state.published;
  const auto past = state.memory;
  search_thresholds(
      exec, state.above, state.tiles, source.accumulated(), state.selector.shortlist(state.tiles, state.first),
      searches, RedsyncSearch::max_reads(policy.eps), host_looks,
      KOKKOS_LAMBDA(const index_t s) {
        using Kind = RedsyncSearch::Kind;
        const Kind kind = policy.of(all.elements[s]);
        searches(s) = RedsyncSearch();
        if (kind == Kind::none) choose_above(all.selections[s], 0);
        if (kind == Kind::none || all.open[s] == 0) return;
        const index_t k = all.selections[s].k;
        const RedsyncMemory memory = past(s);
        const bool reuse = memory.threshold >= 0 && memory.target == k && memory.steps < policy.interval;
        if (kind == Kind::binary && reuse) return;
        searches(s) = RedsyncSearch(kind, RedsyncScale(all.moments[s], all.elements[s]), k, policy.eps);
      },
      KOKKOS_LAMBDA(const index_t s) {
        RedsyncMemory memory = past(s);
        if (all.open[s] == 0) return;
        kernels::Selection& selection = all.selections[s];
        selection.low = searches(s).bound();
        if (policy.of(all.elements[s]) != RedsyncSearch::Kind::binary) return;
        if (searches(s).threshold() >= 0) memory = {selection.k, searches(s).threshold(), 0};
        choose_above(selection, memory.threshold);
        ++memory.steps;
        past(s) = memory;
      });
}

}  // namespace gradcomp::compressors
