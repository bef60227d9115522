#pragma once
// Sparse vectors whose index range is split among owners: where a list is cut, and which of an owner's sums are kept by
// a threshold that all owners derive from one histogram.
#include "gradcomp/core/message.hpp"

namespace gradcomp::kernels {

/// Bins of magnitudes: the 12 leading of their 31 bits, that is 16 a power of two.
inline constexpr int magnitude_bins = 4096;
inline constexpr int magnitude_bin_shift = 19;
inline constexpr int first_non_finite_bin = 0x7f800000 >> magnitude_bin_shift;

/// cuts(p - 1), 0 < p < parts: the index that splits the entries of `list` into p parts before and parts - p behind it,
/// all of equal size; of [0, elements) where the list is empty.
void equal_parts(const Exec& exec, const SparseView& list, index_t elements, int parts, const Vector<index_t>& cuts);

/// starts(p) = entries of `list` with an index below bounds(p).
void entries_below(const Exec& exec, const SparseView& list, const Vector<index_t>& bounds,
                   const Vector<index_t>& starts);

/// bins = how many nonzeros of `sums` have each magnitude; [magnitude_bins].
void magnitude_histogram(const Exec& exec, const Span<const float>& sums, const Vector<std::int32_t>& bins);

/// What an owner keeps: its nonzeros in bins above `bin`, and of those in it the first `share`.
struct MagnitudeCut {
  std::int32_t bin = -1;
  index_t share = 0;
};

/// The cut that keeps at most `max_entries` entries over all owners, whose histograms add up to `all`; `own` is this
/// owner's. The bin that does not fit any more is shared by the owners in proportion to what they have of it, rounded
/// down: at most one entry per owner is missing to `max_entries`. Host arrays of magnitude_bins.
MagnitudeCut cut_of(const std::int32_t* all, const std::int32_t* own, index_t max_entries);

/// Moves what `cut` keeps out of `sums` (which then hold 0 there) to indices, ascending and counted from `first`, and
/// values. Returns their number. Waits for exec.
index_t take_above(const Exec& exec, const Span<float>& sums, index_t first, const MagnitudeCut& cut,
                   std::uint32_t* indices, float* values);

}  // namespace gradcomp::kernels
