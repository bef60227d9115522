#pragma once
// The choice of entries in one segment, step by step. The kernels of Selector do this for each segment.
#include "gradcomp/kernels/select/candidates.hpp"
#include "gradcomp/kernels/select/moments.hpp"

namespace gradcomp::kernels {

/// Which entries to choose in one segment.
struct Selection {
  index_t k = 0;               ///< wanted entries, at most the elements of the segment; 0: choose none
  bool exact = true;           ///< choose exactly k, zeros included; false: all above `threshold`
  std::int32_t threshold = 0;  ///< magnitude()
  index_t capacity = 0;        ///< with a threshold: if more entries (>= k) exceed it, choose exactly the k largest
  index_t min_entries = 0;     ///< with a threshold: if fewer entries (<= k) exceed it, choose exactly the k largest
  index_t cut = 0;             ///< with a threshold: choose only the first `cut` in index order; 0: all
  std::int32_t low = -1;       ///< exact: a bound that k entries probably exceed, so that no sample is needed; -1: none
};

/// Entries chosen in one segment.
struct Chosen {
  index_t kept = 0;   ///< entries that emit() writes
  index_t above = 0;  ///< with a threshold: entries above it, before capacity, min_entries and cut were applied
};

namespace detail {

/// The launches of a round. A segment may need only some of them.
enum Phase : std::uint32_t { sampling = 1, staging = 2, recounting = 4, placing = 8, ranking = 16, all_phases = 31 };

/// A segment, and what the first pass found in it.
struct Chooser {
  Selection selection;
  Moments moments;
  index_t elements, sampled;  ///< sampled: how many of the elements are in the sample
  index_t slots, room;        ///< of all tiles of the segment, for candidates and in Candidates::rank()
  std::int32_t low;           ///< the bound above which the first pass collected; no_bound: it did not collect

  /// The search with which the choice starts.
  KOKKOS_INLINE_FUNCTION SegmentSearch first_search() const {
    SegmentSearch search;
    const index_t k = selection.k;
    if (k == 0) {
      search.low = search.high = moments.max_bits;
    } else if (!selection.exact) {
      search.low = search.high = selection.threshold;
    } else if (moments.nonzeros <= k) {  // all nonzeros and the first zeros
      search.high = 0;
      search.above = moments.nonzeros;
      search.rank = k;
    } else if (selection.low >= 0) {
      search.low = selection.low;
      search.high = moments.max_bits;
      search.rank = k;
    } else {
      // The rank in the sample has a standard deviation of sqrt(expected) for independent elements. Neighbours are
      // similar, so we allow 6 of these deviations.
      const double expected = static_cast<double>(k) * static_cast<double>(sampled) / static_cast<double>(elements);
      const auto rank = static_cast<index_t>(Kokkos::ceil(expected + 6 * Kokkos::sqrt(expected) + 8));
      search.high = moments.max_bits;
      search.rank = k;
      search.sample_rank = rank < sampled ? rank : 0;
    }
    return search;
  }

  /// Whether all nonzeros and the first zeros are taken, so that nothing is left to search. (`high` cannot tell this: a
  /// sample with few denormals may narrow it to 0.)
  KOKKOS_INLINE_FUNCTION bool settled(const SegmentSearch& search) const {
    return search.rank > 0 && moments.nonzeros <= search.rank;
  }

  /// Whether the elements that the first pass collected contain all wanted entries, and fit in their slots: of tiles
  /// with more, every later launch reads all elements, and another bound costs only one such read.
  KOKKOS_INLINE_FUNCTION bool is_listed() const {
    if (low == no_bound || selection.k == 0 || moments.candidates > slots) return false;
    if (!selection.exact) return low <= selection.threshold;
    return moments.nonzeros > selection.k && moments.candidates >= selection.k;
  }

  /// If is_listed(), lets the search choose among the elements that the first pass collected, and returns true.
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

  /// Decides by the total of a segment: closes the search if its candidates suffice, and otherwise starts a new one. A
  /// segment gets at most two more searches: an exact one with a bound from the sample, and one without a bound.
  /// `above` is that of Chosen.
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
      search.sample_rank = 0;  // otherwise another round would raise the bound above that of the collected candidates
    }
  }
};

/// The launches that a search needs.
KOKKOS_INLINE_FUNCTION std::uint32_t phases_of(const SegmentSearch& search) {
  std::uint32_t phases = search.rank > 0 ? ranking : placing;
  if (search.rank == 0 && search.low < search.high) phases |= recounting;
  if (search.open != 0) phases |= staging | placing | (search.sample_rank > 0 ? sampling : 0u);
  return phases;
}

/// The progress of the choice in a segment.
struct Progress {
  index_t above = 0;        ///< Chosen::above
  std::int32_t listed = 0;  ///< 1: the choice is made among the elements that the first pass collected
};

/// The margin by which the bound of the next step is below the threshold of this step; 0 before the first step. If the
/// bound was tried and missed entries, the margin is doubled; otherwise it changes slowly, so that the number of
/// `candidates` approaches spare * kept.
KOKKOS_INLINE_FUNCTION std::int32_t next_margin(std::int32_t margin, bool tried, double kept, double candidates,
                                                double spare) {
  constexpr std::int32_t octave = 1 << 23;
  if (margin == 0) return spare > 2 ? octave / 4 : octave / 8;
  if (tried && candidates < kept) return Kokkos::min(octave, 2 * margin);
  if (tried && candidates < spare * kept) return Kokkos::min(octave, margin + margin / 8);
  if (tried && candidates > 1.3 * (spare * kept)) return Kokkos::max(octave / 256, margin - margin / 16);
  return margin;
}

}  // namespace detail
}  // namespace gradcomp::kernels
