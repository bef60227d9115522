#include "gradcomp/kernels/top_k.hpp"

#include <algorithm>
#include <cmath>

#include "gradcomp/core/read_back.hpp"
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

Selector::Selector(const Tiles& tiles, double density, double spare)
    : m_candidates(tiles, density),
      m_radix(tiles),
      m_goals("gradcomp::kernels::goals", static_cast<std::size_t>(tiles.segments())),
      m_totals("gradcomp::kernels::totals", static_cast<std::size_t>(tiles.segments())),
      m_host_goals(static_cast<std::size_t>(tiles.segments())),
      m_host_totals(static_cast<std::size_t>(tiles.segments())),
      m_elements(tiles.elements),
      m_chosen(static_cast<std::size_t>(tiles.segments())),
      m_spare(spare),
      m_low("gradcomp::kernels::expected_bounds", static_cast<std::size_t>(tiles.segments())),
      m_host_low(static_cast<std::size_t>(tiles.segments()), no_bound),
      m_bounds(static_cast<std::size_t>(tiles.segments())),
      m_listed(static_cast<std::size_t>(tiles.segments())) {
  m_shortlist.low.resize(m_chosen.size(), -1);
  m_shortlist.count.resize(m_chosen.size());
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
  wait(exec, "gradcomp::kernels::Selector::choose");
}

Collector Selector::expect(const Exec& exec, const Source& source) {
  m_expecting = true;
  for (std::size_t s = 0; s < m_bounds.size(); ++s) m_host_low[s] = m_bounds[s].low;
  Kokkos::deep_copy(exec, m_low, HostSpan<std::int32_t>(m_host_low.data(), m_host_low.size()));
  return m_candidates.collector(source.accumulated(), m_low);
}

const Shortlist& Selector::shortlist(const Tiles& tiles, const FirstPass& first) {
  m_shortlist.runs = m_candidates.runs(tiles);
  for (std::size_t s = 0; s < m_host_low.size(); ++s) {
    m_shortlist.low[s] = m_expecting && m_host_low[s] != no_bound ? m_host_low[s] : -1;
    m_shortlist.count[s] = first.moments()[s].candidates;
  }
  return m_shortlist;
}

/// Whether what the first pass collected of a segment holds all that the request asks for, and is not far too much.
bool Selector::listed(std::size_t s, const Request& request, const FirstPass& first) const {
  const Moments& moments = first.moments()[s];
  if (!m_expecting || m_host_low[s] == no_bound || request.k == 0) return false;
  if (!request.exact) return m_host_low[s] <= request.threshold;
  return moments.nonzeros > request.k && moments.candidates >= request.k &&
         moments.candidates <= std::max<index_t>(8 * request.k, 1024);
}

/// Sets the goal of a segment to choose among what the first pass collected, if it can.
bool Selector::use_listed(std::size_t s, const Request& request, const FirstPass& first) {
  if (!listed(s, request, first)) return false;
  Goal& goal = m_host_goals[s];
  if (request.exact) {
    goal.high = first.moments()[s].max_bits;
    goal.above = 0;
    goal.rank = request.k;
  }
  goal.low = m_host_low[s];
  goal.sample_rank = 0;
  goal.open = 0;
  return true;
}

/// Bounds of the next step. The margin below the threshold is doubled where it was too narrow, and follows `spare`
/// slowly otherwise. What would overflow the tiles' room is not worth collecting.
void Selector::remember(const std::vector<Request>& requests, const FirstPass& first) {
  constexpr std::int32_t octave = 1 << 23;
  for (std::size_t s = 0; s < requests.size(); ++s) {
    Bound& bound = m_bounds[s];
    const bool tried = m_expecting && m_host_low[s] != no_bound;
    const std::int32_t threshold = m_host_goals[s].high;
    const double kept = static_cast<double>(m_chosen[s].kept);
    const double wanted = m_spare * kept, collected = static_cast<double>(first.moments()[s].candidates);
    bound.low = no_bound;
    if (kept == 0 || threshold <= 0 || 2 * kept > m_candidates.room() * static_cast<double>(m_elements[s])) continue;
    if (bound.margin == 0) {
      bound.margin = m_spare > 2 ? octave / 4 : octave / 8;
    } else if (tried && m_listed[s] == 0) {
      bound.margin = std::min(octave, 2 * bound.margin);
    } else if (tried && collected < wanted) {
      bound.margin = std::min(octave, bound.margin + bound.margin / 8);
    } else if (tried && collected > 1.3 * wanted) {
      bound.margin = std::max(octave / 256, bound.margin - bound.margin / 16);
    }
    bound.low = std::max(0, threshold - bound.margin);
  }
}

/// Looks at the totals of open segments: closes those whose candidates will do, gives the others another goal. Returns
/// whether there are such. A segment gets at most two more: an exact search from a bound of the sample, then without.
bool Selector::repair(const std::vector<Request>& requests, const FirstPass& first) {
  bool again = false;
  for (std::size_t s = 0; s < requests.size(); ++s) {
    Goal& goal = m_host_goals[s];
    const index_t found = m_host_totals[s];
    if (goal.open == 0 && (m_listed[s] == 0 || goal.rank > 0)) continue;
    if (goal.rank == 0) m_chosen[s].above = found;
    const bool misses = found > requests[s].capacity || found < requests[s].least;
    if (goal.rank == 0 && requests[s].k > 0 && misses) {
      Request exact = requests[s];
      exact.exact = true;
      exact.low = -1;
      goal = first_goal(exact, first.moments()[s], m_elements[s], m_sampled[s]);
      m_listed[s] = use_listed(s, exact, first);
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
    m_listed[s] = use_listed(s, requests[s], first);
    m_chosen[s].above = 0;
  }
  Runs sample;
  sample.tile = tiles.tile.data();
  sample.values = first.sample().data();
  sample.slots = sample.stride = warp_lanes;
  const auto any = [&](const auto& holds) { return std::any_of(m_host_goals.begin(), m_host_goals.end(), holds); };
  while (any([](const Goal& goal) { return goal.open != 0 || goal.rank == 0; })) {
    upload(exec);
    if (any([](const Goal& goal) { return goal.open != 0 && goal.sample_rank > 0; }))
      m_radix.narrow(exec, sample, m_goals, Radix::Target::sample, 2);
    if (any([](const Goal& goal) { return goal.open != 0; }))
      m_candidates.stage(exec, tiles, source.accumulated(), m_goals);
    if (any([](const Goal& goal) { return goal.rank == 0 && goal.low < goal.high; }))
      m_candidates.recount(exec, tiles, m_goals, false);
    m_candidates.place(exec, tiles, m_goals, m_totals);
    download(exec);
    if (!repair(requests, first)) break;
  }

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
    m_candidates.recount(exec, tiles, m_goals, true);
    m_candidates.place(exec, tiles, m_goals, m_totals);
    download(exec);
  }
  remember(requests, first);
  m_expecting = false;
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
