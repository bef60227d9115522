#include "gradcomp/kernels/top_k.hpp"

#include <algorithm>
#include <cmath>

#include "gradcomp/kernels/lanes.hpp"

namespace gradcomp::kernels {
namespace {

/// Where the search starts; `sampled` of the segment's elements are in the sample.
Goal first_goal(const Request& request, const Moments& moments, index_t elements, index_t sampled) {
  Goal goal;
  const index_t k = request.k;
  if (k == 0) {
    goal.low = goal.high = moments.max_bits;
  } else if (!request.exact) {
    goal.low = goal.high = request.threshold;
  } else if (moments.nonzeros <= k) {  // all nonzeros, then the first zeros
    goal.high = 0;
    goal.above = moments.nonzeros;
    goal.rank = k;
  } else if (request.low >= 0) {
    goal.low = request.low;
    goal.high = moments.max_bits;
    goal.rank = k;
  } else {
    // The rank in the sample has a standard deviation of sqrt(expected); neighbours resemble each other, hence 6 of
    // them.
    const double expected = static_cast<double>(k) * static_cast<double>(sampled) / static_cast<double>(elements);
    const auto rank = static_cast<index_t>(std::ceil(expected + 6 * std::sqrt(expected) + 8));
    goal.high = moments.max_bits;
    goal.rank = k;
    goal.sample_rank = rank < sampled ? rank : 0;
  }
  return goal;
}

/// All nonzeros and the first zeros: nothing is left to search. (Not by `high`, which a sample of few denormals can
/// narrow to 0.)
bool settled(const Goal& goal, const Moments& moments) { return goal.rank > 0 && moments.nonzeros <= goal.rank; }

}  // namespace

Selector::Selector(const Tiles& tiles, double density)
    : m_candidates(tiles, density),
      m_radix(tiles),
      m_goals("gradcomp::kernels::goals", static_cast<std::size_t>(tiles.segments())),
      m_totals("gradcomp::kernels::totals", static_cast<std::size_t>(tiles.segments())),
      m_host_goals(static_cast<std::size_t>(tiles.segments())),
      m_host_totals(static_cast<std::size_t>(tiles.segments())),
      m_elements(tiles.elements),
      m_chosen(static_cast<std::size_t>(tiles.segments())) {
  for (const index_t elements : tiles.elements) {
    const index_t tail = elements % tile_size;
    m_sampled.push_back(elements / tile_size * warp_lanes + std::min<index_t>(tail, warp_lanes));
  }
}

void Selector::upload(const Exec& exec) {
  Kokkos::deep_copy(exec, m_goals, HostSpan<Goal>(m_host_goals.data(), m_host_goals.size()));
}

void Selector::download(const Exec& exec) {
  Kokkos::deep_copy(exec, HostSpan<Goal>(m_host_goals.data(), m_host_goals.size()), m_goals);
  Kokkos::deep_copy(exec, HostSpan<index_t>(m_host_totals.data(), m_host_totals.size()), m_totals);
  exec.fence("gradcomp::kernels::Selector::choose");
}

/// Looks at the totals of open segments: closes those whose candidates will do, gives the others another goal. Returns
/// whether there are such. A segment gets at most two more: an exact search from a bound of the sample, then without.
bool Selector::repair(const std::vector<Request>& requests, const FirstPass& first) {
  bool again = false;
  for (std::size_t s = 0; s < requests.size(); ++s) {
    Goal& goal = m_host_goals[s];
    const index_t found = m_host_totals[s];
    if (goal.open == 0) continue;
    if (goal.rank == 0) m_chosen[s].above = found;
    const bool misses = found > requests[s].capacity || found < requests[s].least;
    if (goal.rank == 0 && requests[s].k > 0 && misses) {
      Request exact = requests[s];
      exact.exact = true;
      exact.low = -1;
      goal = first_goal(exact, first.moments()[s], m_elements[s], m_sampled[s]);
    } else if (goal.rank > 0 && goal.low >= 0 && found < goal.rank) {
      goal.low = -1;
      goal.sample_rank = 0;
    } else {
      goal.open = 0;
      goal.sample_rank = 0;  // or another round would raise the bound above what was collected
    }
    again = again || goal.open != 0;
  }
  return again;
}

void Selector::choose(const Exec& exec, const Tiles& tiles, const Source& source, const FirstPass& first,
                      const std::vector<Request>& requests) {
  const std::size_t segments = requests.size();
  for (std::size_t s = 0; s < segments; ++s) {
    m_host_goals[s] = first_goal(requests[s], first.moments()[s], m_elements[s], m_sampled[s]);
    m_chosen[s].above = 0;
  }
  Runs sample;
  sample.tile = tiles.tile.data();
  sample.values = first.sample().data();
  sample.slots = sample.stride = warp_lanes;
  do {
    const bool sampling = std::any_of(m_host_goals.begin(), m_host_goals.end(),
                                      [](const Goal& goal) { return goal.open != 0 && goal.sample_rank > 0; });
    upload(exec);
    if (sampling) m_radix.narrow(exec, sample, m_goals, Radix::Target::sample, 2);
    m_candidates.stage(exec, tiles, source.accumulated(), m_goals);
    m_candidates.place(exec, tiles, m_goals, m_totals);
    download(exec);
  } while (repair(requests, first));

  bool exact = false;
  index_t out = 0;
  for (std::size_t s = 0; s < segments; ++s) {
    Goal& goal = m_host_goals[s];
    if (goal.rank > 0 && !settled(goal, first.moments()[s])) {
      goal.high = first.moments()[s].max_bits;
      goal.above = 0;
    }
    goal.out = out;
    exact = exact || goal.rank > 0;
    const index_t most = requests[s].cut > 0 ? requests[s].cut : m_elements[s];
    m_chosen[s].kept = goal.rank > 0 ? goal.rank : std::min(m_host_totals[s], most);
    out += m_chosen[s].kept;
    goal.end = out;
  }
  upload(exec);
  if (exact) {
    m_radix.narrow(exec, m_candidates.runs(tiles), m_goals, Radix::Target::exact, Radix::passes_to_end);
    m_candidates.recount(exec, tiles, m_goals);
    m_candidates.place(exec, tiles, m_goals, m_totals);
  }
}

index_t Selector::kept() const {
  index_t total = 0;
  for (const auto& c : m_chosen) total += c.kept;
  return total;
}

void Selector::emit(const Exec& exec, const Tiles& tiles, const Source& source, std::uint32_t* indices, float* values) {
  m_candidates.emit(exec, tiles, source, m_goals, indices, values);
}

index_t Selector::bytes() const {
  return m_candidates.bytes() + m_radix.bytes() +
         static_cast<index_t>(m_goals.size() * sizeof(Goal) + m_totals.size() * 8);
}

}  // namespace gradcomp::kernels
