#pragma once
// Sparse vectors whose index range is split among owners: where a list is cut, and which sums an owner keeps. All
// owners derive the threshold for this from one histogram.
#include "gradcomp/core/message.hpp"

namespace gradcomp::kernels {

/// Bins of magnitudes: the 12 leading of their 31 bits, so that there are 16 bins per power of two.
inline constexpr int magnitude_bins = 4096;
inline constexpr int magnitude_bin_shift = 19;
inline constexpr int first_non_finite_bin = 0x7f800000 >> magnitude_bin_shift;

/// Fills the parts - 1 `cuts`: indices that split the entries of `list` into `parts` parts of equal size. If the list
/// is empty, they split [0, elements).
void equal_parts(const Exec& exec, const SparseView& list, index_t elements, int parts, const Vector<index_t>& cuts);

/// starts(p) = the number of entries of `list` with an index below bounds(p).
void entries_below(const Exec& exec, const SparseView& list, const Vector<index_t>& bounds,
                   const Vector<index_t>& starts);

/// bins(b) = the number of nonzeros of `sums` in bin b, for all magnitude_bins bins.
void magnitude_histogram(const Exec& exec, const Span<const float>& sums, const Vector<std::int32_t>& bins);

/// What an owner keeps: its nonzeros in bins above `bin`, and the first `share` of those in `bin`.
struct MagnitudeCut {
  std::int32_t bin = -1;
  index_t share = 0;
};

/// The cut that keeps at most `max_entries` entries over all owners. `all` is the sum of their histograms, and `own`
/// that of this owner; both are host arrays of magnitude_bins. The owners share the first bin that does not fit, in
/// proportion to their entries in it, rounded down. So the result may fall short of `max_entries` by one entry per
/// owner.
MagnitudeCut cut_of(const std::int32_t* all, const std::int32_t* own, index_t max_entries);

/// Moves the entries that `cut` keeps out of `sums`, where they become 0, to `values`, and writes their indices, which
/// ascend and count from `first`. Returns the number of entries. Waits for exec.
index_t take_above(const Exec& exec, const Span<float>& sums, index_t first, const MagnitudeCut& cut,
                   std::uint32_t* indices, float* values);

}  // namespace gradcomp::kernels
