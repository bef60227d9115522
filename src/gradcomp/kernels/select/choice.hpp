#pragma once
// The choice of one segment, step by step: what Selector's kernels do for each.
#include "gradcomp/kernels/select/candidates.hpp"
#include "gradcomp/kernels/select/moments.hpp"

namespace gradcomp::kernels {

/// What one segment asks for.
struct Selection {
  index_t k = 0;               ///< entries wanted, at most the segment's elements; 0: none at all
  bool exact = true;           ///< exactly k, zeros included; false: all above `threshold`
  std::int32_t threshold = 0;  ///< magnitude()
  index_t capacity = 0;        ///< with a threshold: past so many (>= k), exactly the k largest instead
  index_t min_entries = 0;     ///< with a threshold: below so many (<= k), exactly the k largest instead
  index_t cut = 0;             ///< with a threshold: only the first so many in index order; 0: all
  std::int32_t low = -1;       ///< exact: k entries are thought to lie above it, which saves the sample; -1: unknown
};

/// Entries chosen in one segment.
struct Chosen {
  index_t kept = 0;   ///< entries that emit() writes
  index_t above = 0;  ///< with a threshold: entries above it, before capacity, min_entries and cut were applied
};

namespace detail {

/// Launches of a round, which only some segments need.
enum Phase : std::uint32_t { sampling = 1, staging = 2, recounting = 4, placing = 8, ranking = 16, all_phases = 31 };

/// A segment, and what the first pass knows of it.
struct Chooser {
  Selection selection;
  Moments moments;
  index_t elements, sampled;  ///< sampled: how many of the elements are in the sample
  std::int32_t low;           ///< bound above which the first pass collected; no_bound: it did not

  /// Where the search starts.
  KOKKOS_INLINE_FUNCTION SegmentSearch first_search() const {
    SegmentSearch search;
    const index_t k = selection.k;
    if (k == 0) {
      search.low = search.high = moments.max_bits;
    } else if (!selection.exact) {
      search.low = search.high = selection.threshold;
    } else if (moments.nonzeros <= k) {  // all nonzeros, then the first zeros
      search.high = 0;
      search.above = moments.nonzeros;
      search.rank = k;
    } else if (selection.low >= 0) {
      search.low = selection.low;
      search.high = moments.max_bits;
      search.rank = k;
    } else {
      // The rank in the sample has a standard deviation of sqrt(expected); neighbours resemble each other, hence 6 of
      // them.
      const double expected = static_cast<double>(k) * static_cast<double>(sampled) / static_cast<double>(elements);
      const auto rank = static_cast<index_t>(Kokkos::ceil(expected + 6 * Kokkos::sqrt(expected) + 8));
      search.high = moments.max_bits;
      search.rank = k;
      search.sample_rank = rank < sampled ? rank : 0;
    }
    return search;
  }

  /// All nonzeros and the first zeros: nothing is left to search. (Not by `high`, which a sample of few denormals can
  /// narrow to 0.)
  KOKKOS_INLINE_FUNCTION bool settled(const SegmentSearch& search) const {
    return search.rank > 0 && moments.nonzeros <= search.rank;
  }

  /// Whether what the first pass collected holds all that the selection asks for, and is not far too much.
  KOKKOS_INLINE_FUNCTION bool is_listed() const {
    if (low == no_bound || selection.k == 0) return false;
    if (!selection.exact) return low <= selection.threshold;
    return moments.nonzeros > selection.k && moments.candidates >= selection.k &&
           moments.candidates <= Kokkos::max<index_t>(8 * selection.k, 1024);
  }

  /// Makes the search one to choose among what the first pass collected, if it can be.
  KOKKOS_INLINE_FUNCTION bool use_list(SegmentSearch& search) const {
    if (!is_listed()) return false;
    if (selection.exact) {
      search.high = moments.max_bits;
      search.above = 0;
      search.rank = selection.k;
    }
    search.low = low;
    search.sample_rank = 0;
    search.open = 0;
    return true;
  }

  /// Looks at the total of a segment: closes one whose candidates will do, gives another one a new search. A segment
  /// gets at most two more: an exact search from a bound of the sample, then without. `above` as Chosen's.
  KOKKOS_INLINE_FUNCTION void repair(SegmentSearch& search, std::int32_t& listed, index_t found, index_t& above) const {
    if (search.open == 0 && (listed == 0 || search.rank > 0)) return;
    if (search.rank == 0) above = found;
    const bool misses = found > selection.capacity || found < selection.min_entries;
    if (search.rank == 0 && selection.k > 0 && misses) {
      Chooser exact = *this;
      exact.selection.exact = true;
      exact.selection.low = -1;
      search = exact.first_search();
      listed = exact.use_list(search) ? 1 : 0;
    } else if (search.rank > 0 && search.low >= 0 && found < search.rank) {
      search.low = -1;
      search.sample_rank = 0;
    } else {
      search.open = 0;
      search.sample_rank = 0;  // or another round would raise the bound above what was collected
    }
  }
};

KOKKOS_INLINE_FUNCTION std::uint32_t phases_of(const SegmentSearch& search) {
  std::uint32_t phases = search.rank > 0 ? ranking : placing;
  if (search.rank == 0 && search.low < search.high) phases |= recounting;
  if (search.open != 0) phases |= staging | placing | (search.sample_rank > 0 ? sampling : 0u);
  return phases;
}

/// How far the choice of a segment is.
struct Progress {
  index_t above = 0;        ///< as Chosen's
  std::int32_t listed = 0;  ///< 1: the choice is made among what the first pass collected
};

/// A bound below a segment's next threshold, by that of this step, is so much lower: doubled where it was missed, else
/// it follows `spare` slowly. `candidates` were collected for `kept` entries where the bound was tried. 0: no step yet.
KOKKOS_INLINE_FUNCTION std::int32_t next_margin(std::int32_t margin, bool tried, bool missed, double kept,
                                                double candidates, double spare) {
  constexpr std::int32_t octave = 1 << 23;
  if (margin == 0) return spare > 2 ? octave / 4 : octave / 8;
  if (tried && missed) return Kokkos::min(octave, 2 * margin);
  if (tried && candidates < spare * kept) return Kokkos::min(octave, margin + margin / 8);
  if (tried && candidates > 1.3 * (spare * kept)) return Kokkos::max(octave / 256, margin - margin / 16);
  return margin;
}

}  // namespace detail
}  // namespace gradcomp::kernels
