#pragma once
// Searches of thresholds by counting, one for each segment; their state stays on the device. A search asks for counts,
// a read of the gradient gives them, and the search continues. The same launches serve all segments; searches that are
// done take no part.
//
// A Search is a trivially copyable struct with done(), probes() (none if done), advance(counts) and enough(count),
// which tells whether advance() treats `count` and all larger counts alike.
#include "gradcomp/core/shared.hpp"
#include "gradcomp/kernels/select/count_above.hpp"

namespace gradcomp::compressors {

/// The searches of all segments, between two reads. Entries that the first pass collected save reads: if the list of a
/// segment has enough(), every probe below the bound of the list has enough() too and need not be counted.
template <class Search>
class ThresholdSearch {
 public:
  ThresholdSearch(const kernels::Counting& counting, const kernels::Shortlist& shortlist,
                  const Vector<Search>& searches)
      : m_counting(counting), m_list(shortlist), m_searches(searches) {}

  /// Whether `probe` needs no count, because it lies below the bound of a list that has enough().
  KOKKOS_INLINE_FUNCTION bool settled(index_t s, const Search& search, std::int32_t probe) const {
    return probe >= 0 && probe < m_list.low(s) && search.enough(m_list.count(s));
  }

  KOKKOS_INLINE_FUNCTION kernels::Probes to_count(index_t s, const Search& search) const {
    kernels::Probes probes = search.probes();
    for (int p = 0; p < kernels::max_probes; ++p)
      if (settled(s, search, probes[p])) probes[p] = -1;
    return probes;
  }

  /// Asks for the first counts.
  KOKKOS_INLINE_FUNCTION void ask(index_t s) const { m_counting.ask(s, to_count(s, m_searches(s)), m_list.low(s)); }

  /// Takes the counts of a read and asks for the next ones.
  KOKKOS_INLINE_FUNCTION void advance(index_t s) const {
    Search search = m_searches(s);
    if (search.done()) return;
    kernels::Counts counts = m_counting.answer(s, to_count(s, search));
    const kernels::Probes probes = search.probes();
    for (int p = 0; p < kernels::max_probes; ++p)
      if (settled(s, search, probes[p])) counts[p] = m_list.count(s);
    search.advance(counts);
    m_searches(s) = search;
    ask(s);
  }

 private:
  kernels::Counting m_counting;
  kernels::Shortlist m_list;
  Vector<Search> m_searches;
};

/// Whether every search is done. Call it only if the host may look.
template <class Search>
bool all_done(const Vector<Search>& searches) {
  const auto seen = seen_by_host(searches);
  for (std::size_t s = 0; s < seen.size(); ++s)
    if (!seen(s).done()) return false;
  return true;
}

/// start(s) makes the search of each segment; then elements are counted until all searches are done; then choose(s)
/// takes what was found. Both are KOKKOS_LAMBDA(index_t). `searches`: [segments]. `reads`: largest number of reads that
/// a search needs, at least 1. If the host looks, the reads end with the last search. Otherwise all are launched, and
/// those after the end of the searches read nothing.
template <class Search, class Start, class Choose>
static void search_thresholds(const Exec& exec, const kernels::CountAbove& above, const kernels::Tiles& tiles,
                              const float* a, const kernels::Shortlist& shortlist, const Vector<Search>& searches,
                              int reads, bool host_looks, const Start& start, const Choose& choose) {
  const ThresholdSearch<Search> all(above.counting(), shortlist, searches);
  const index_t segments = tiles.segments();
  kernels::for_few(
      "gradcomp::compressors::start_searches", exec, segments, host_looks, KOKKOS_LAMBDA(const index_t s) {
        start(s);
        all.ask(s);
      });
  for (int read = 1; read < reads && !(host_looks && all_done(searches)); ++read) {
    above.run(exec, tiles, a, shortlist.runs, host_looks);
    kernels::for_few(
        "gradcomp::compressors::advance_searches", exec, segments, host_looks,
        KOKKOS_LAMBDA(const index_t s) { all.advance(s); });
  }
  above.run(exec, tiles, a, shortlist.runs, host_looks);
  kernels::for_few(
      "gradcomp::compressors::end_searches", exec, segments, host_looks, KOKKOS_LAMBDA(const index_t s) {
        all.advance(s);
        choose(s);
      });
}

}  // namespace gradcomp::compressors
