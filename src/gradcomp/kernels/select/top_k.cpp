#include "gradcomp/kernels/select/top_k.hpp"

#include <algorithm>

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

Selector::Selector(const Tiles& tiles, double density, double spare)
    : m_candidates(tiles, density),
      m_radix(tiles),
      m_spare(spare),
      m_selections("gradcomp::kernels::selections", static_cast<std::size_t>(tiles.segments())),
      m_searches("gradcomp::kernels::searches", m_selections.size()),
      m_totals("gradcomp::kernels::totals", m_selections.size()),
      m_elements(upload("gradcomp::kernels::elements", tiles.elements)),
      m_progress("gradcomp::kernels::choice_progress", m_selections.size()),
      m_low("gradcomp::kernels::expected_bounds", m_selections.size()),
      m_margin("gradcomp::kernels::expected_margins", m_selections.size()),
      m_chosen("gradcomp::kernels::chosen", m_selections.size()),
      m_outcome("gradcomp::kernels::choice_outcome", 1) {
  std::vector<index_t> sampled;
  for (const index_t elements : tiles.elements)
    sampled.push_back(elements / tile_size * warp_lanes + std::min<index_t>(elements % tile_size, warp_lanes));
  m_sampled = upload("gradcomp::kernels::sampled", sampled);
  Kokkos::deep_copy(m_low, no_bound);
}

detail::Choices Selector::choices(const FirstPass& first) const {
  return {static_cast<index_t>(m_selections.size()),
          m_selections.data(),
          first.on_device().data(),
          m_elements.data(),
          m_sampled.data(),
          m_totals.data(),
          m_searches.data(),
          m_progress.data(),
          m_low.data(),
          m_margin.data(),
          m_chosen.data(),
          m_outcome.data(),
          m_expecting,
          m_candidates.slots()};
}

Collector Selector::expect(const Source& source) {
  m_expecting = true;
  return m_candidates.collector(source.accumulated(), m_low);
}

Shortlist Selector::shortlist(const Tiles& tiles, const FirstPass& first) const {
  return {m_candidates.runs(tiles), m_expecting ? m_low.data() : nullptr, first.on_device().data()};
}

void Selector::round(const Exec& exec, const Tiles& tiles, const Source& source, const FirstPass& first,
                     std::uint32_t phases) {
  if ((phases & detail::sampling) != 0) {
    Runs sample;
    sample.tile = tiles.tile.data();
    sample.values = first.sample().data();
    sample.slots = sample.stride = warp_lanes;
    m_radix.narrow(exec, tiles, sample, m_searches, Radix::Target::sample, 2);
  }
  if ((phases & detail::staging) != 0) m_candidates.stage(exec, tiles, source.accumulated(), m_searches);
  if ((phases & detail::recounting) != 0)
    m_candidates.recount(exec, tiles, m_searches, m_totals);
  else if ((phases & detail::placing) != 0)
    m_candidates.place(exec, tiles, m_searches, m_totals);
}

void Selector::choose(const Exec& exec, const Tiles& tiles, const Source& source, const FirstPass& first,
                      bool host_looks) {
  const detail::Choices all = choices(first);
  const detail::Outcome& outcome = m_outcome(0);
  detail::start_choices(exec, all, host_looks);
  std::uint32_t needed = 0;
  for (std::uint32_t phases = m_usual, again = 1; again != 0; phases = detail::all_phases) {
    if (host_looks) {
      const auto searches = seen_by_host(m_searches);
      phases = detail::ranking;
      for (std::size_t s = 0; s < searches.size(); ++s) phases |= detail::phases_of(searches(s));
    }
    round(exec, tiles, source, first, phases);
    detail::settle_choices(exec, all, phases, host_looks);
    if (host_looks && outcome.again != 0) continue;
    if (host_looks && (outcome.needed & detail::ranking) == 0) phases &= ~std::uint32_t{detail::ranking};
    if ((phases & detail::ranking) != 0) {
      m_radix.narrow(exec, tiles, m_candidates.runs(tiles), m_searches, Radix::Target::exact, Radix::passes_to_end,
                     host_looks);
      m_candidates.rank(exec, tiles, m_searches, m_totals);
    }
    wait(exec, "gradcomp::kernels::Selector::choose");
    needed |= outcome.needed;
    again = outcome.non_finite > 0 ? 0 : static_cast<std::uint32_t>(outcome.again);
  }
  m_usual = needed;
  if ((needed & detail::placing) != 0) m_usual |= detail::recounting;  // for thresholds, once the first pass collects
  if (outcome.non_finite == 0) detail::remember_choices(exec, all, m_spare, host_looks);
  m_expecting = false;
}

void Selector::choose(const Exec& exec, const Tiles& tiles, const Source& source, const FirstPass& first,
                      const std::vector<Selection>& selections) {
  Kokkos::deep_copy(exec, m_selections, HostSpan<const Selection>(selections.data(), selections.size()));
  choose(exec, tiles, source, first);
}

void Selector::emit(const Exec& exec, const Tiles& tiles, const Source& source, std::uint32_t* indices, float* values) {
  m_candidates.emit(exec, tiles, source, m_searches, indices, values);
}

index_t Selector::bytes() const {
  return m_candidates.bytes() + m_radix.bytes() +
         static_cast<index_t>(m_searches.size() *
                              (sizeof(Selection) + sizeof(SegmentSearch) + sizeof(detail::Progress) +
                               3 * sizeof(index_t) + 2 * sizeof(std::int32_t)));
}

}  // namespace gradcomp::kernels
