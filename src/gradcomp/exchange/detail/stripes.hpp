#pragma once
// Stripes: a bucket cut into one contiguous part per rank, its owner; the same cut on all ranks.
#include <vector>

#include "gradcomp/core/layout.hpp"
#include "gradcomp/core/source.hpp"

namespace gradcomp {

/// Elements [first, first + layout.count()) of a bucket; no segment of the layout is empty.
struct Stripe {
  index_t first = 0;
  Layout layout;  ///< offsets start at 0

  index_t count() const { return layout.count(); }
};

/// Cuts `layout` into `parts` stripes, in order and without gaps; a stripe may be empty. The p-th boundary is the place
/// nearest to the p-th of equal parts, the lower one of two, at which a bucket may be cut: between segments, in a
/// matrix between rows, so that columns() and what belongs to one of them stay whole, elsewhere at multiples of
/// `granule`.
///
/// Segments that are cut remain matrices or vectors. The first piece keeps the segment's id, the k-th of the others has
/// k 2^32 added (ids of models are smaller): counters of random numbers start anew in every piece, and with one key
/// two pieces would draw the same numbers for different elements.
std::vector<Stripe> cut_stripes(const Layout& layout, index_t granule, int parts);

/// What `source` holds of `stripe`.
Source part_of(const Source& source, const Stripe& stripe);

/// What `span`, of the bucket's length, holds of `stripe`.
inline Span<float> part_of(const Span<float>& span, const Stripe& stripe) {
  return subspan(span, stripe.first, stripe.count());
}

}  // namespace gradcomp
