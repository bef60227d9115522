#pragma once
// Stripes: a bucket is cut into one contiguous part per rank, which owns it. All ranks cut in the same way.
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

/// Cuts `layout` into `parts` stripes, in order and without gaps; a stripe may be empty. A bucket may be cut between
/// segments, in a matrix between rows (so that rows stay whole and columns() stays the same), and elsewhere at
/// multiples of `granule`. The p-th boundary is the allowed place that is nearest to the end of the p-th of equal
/// parts; the lower one of two.
///
/// Pieces of segments are matrices or vectors too. The first piece keeps the segment's id, and the k-th of the others
/// has k 2^32 added (ids of models are smaller). This is needed because counters of random numbers start anew in every
/// piece: with one key, two pieces would draw the same numbers for different elements.
std::vector<Stripe> cut_stripes(const Layout& layout, index_t granule, int parts);

/// The part of `source` that belongs to `stripe`.
Source part_of(const Source& source, const Stripe& stripe);

/// The part of `span` that belongs to `stripe`; `span` has the bucket's length.
inline Span<float> part_of(const Span<float>& span, const Stripe& stripe) {
  return subspan(span, stripe.first, stripe.count());
}

}  // namespace gradcomp
