#pragma once
// Searches of thresholds by counting, one for each segment, whose state stays on the device: a search asks for counts,
// a read of the gradient gives them, the search goes on. All segments in the same launches, done ones do nothing.
//
// A Search is a trivially copyable struct with done(), probes() (none when done), advance(counts) and enough(count):
// whether advance() treats all counts from `count` on alike.
#include "gradcomp/core/shared.hpp"
#include "gradcomp/kernels/select/count_above.hpp"

namespace gradcomp::compressors {

/// Counts until all searches are done. searches: [segments]; `reads`: the most that one needs. Where the host looks it
/// ends with the last search, else after `reads`, whose launches then do nothing. What the first pass collected saves
/// reads: where it has enough, so have all probes below its bound.
template <class Search>
class ThresholdSearch {
 public:
  ThresholdSearch(const kernels::Counting& counting, const kernels::Shortlist& shortlist,
                  const Vector<Search>& searches)
      : m_counting(counting), m_list(shortlist), m_searches(searches) {}

  /// A magnitude below the bound of a list that has enough.
  KOKKOS_INLINE_FUNCTION bool settled(index_t s, const Search& search, std::int32_t probe) const {
    return probe >= 0 && probe < m_list.low(s) && search.enough(m_list.count(s));
  }

  KOKKOS_INLINE_FUNCTION kernels::Probes to_count(index_t s, const Search& search) const {
    kernels::Probes probes = search.probes();
    for (int p = 0; p < kernels::max_probes; ++p)
      if (settled(s, search, probes[p])) probes[p] = -1;
    return probes;
  }

  KOKKOS_INLINE_FUNCTION void ask(index_t s) const { m_counting.ask(s, to_count(s, m_searches(s)), m_list.low(s)); }

  /// Takes the counts of a read, and asks for the next.
  KOKKOS_INLINE_FUNCTION void advance(const kernels::Warp& warp, index_t s) const {
    Search search = m_searches(s);
    if (search.done()) return;
    kernels::Counts counts = m_counting.answer(warp, s, to_count(s, search));
    const kernels::Probes probes = search.probes();
    for (int p = 0; p < kernels::max_probes; ++p)
      if (settled(s, search, probes[p])) counts[p] = m_list.count(s);
    warp.once([&] {
      search.advance(counts);
      m_searches(s) = search;
      ask(s);
    });
  }

 private:
  kernels::Counting m_counting;
  kernels::Shortlist m_list;
  Vector<Search> m_searches;
};

/// Where the host may look.
template <class Search>
bool all_done(const Vector<Search>& searches) {
  const auto seen = seen_by_host(searches);
  for (std::size_t s = 0; s < seen.size(); ++s)
    if (!seen(s).done()) return false;
  return true;
}

template <class Search>
void search_thresholds(const Exec& exec, const kernels::CountAbove& above, const kernels::Tiles& tiles, const float* a,
                       const kernels::Shortlist& shortlist, const Vector<Search>& searches, int reads,
                       bool host_looks) {
  const ThresholdSearch<Search> all(above.counting(), shortlist, searches);
  kernels::for_few(
      "gradcomp::compressors::ask_counts", exec, tiles.segments(), host_looks,
      KOKKOS_LAMBDA(const index_t s) { all.ask(s); });
  for (int read = 0; read < reads && !(host_looks && all_done(searches)); ++read) {
    above.run(exec, tiles, a, shortlist.runs, host_looks);
    kernels::for_warps(
        "gradcomp::compressors::advance_searches", exec, tiles.segments(),
        KOKKOS_LAMBDA(const kernels::Warp& warp, index_t s) { all.advance(warp, s); });
  }
}

}  // namespace gradcomp::compressors
