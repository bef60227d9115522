#pragma once
// Draws k distinct elements of each segment without an array of n elements; all ranks draw the same, or each rank its
// own.
//
// Entry j of k is drawn from stratum j, the elements [floor(j n / k), floor((j + 1) n / k)). Then all indices are moved
// by one random shift, around the end of the segment. So the indices are distinct, and every element is chosen with
// probability exactly k / n, although strata may differ in size by one. Neighbours are chosen together less often than
// in a uniform subset. This changes neither the expectation nor E ||C(x) - x||^2 of a scaled C, because both are sums
// over single elements.
//
// Entry and shift are random_below() of words 0 and 1 of a draw: draw 0 of element j, and draw 1 of element 0.
#include <vector>

#include "gradcomp/core/payload.hpp"
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"
#include "gradcomp/kernels/random/threefry.hpp"

namespace gradcomp::kernels {

/// The draw of one segment in one step.
struct Subset {
  index_t first = 0;     ///< first element of the segment in the bucket
  index_t elements = 0;  ///< n, below 2^32
  index_t count = 0;     ///< k <= n
  index_t entry = 0;     ///< index of its first entry in the message
  Array4 key;            ///< of (seed, segment, step, rank)
  index_t shift = 0;     ///< how far indices are moved, in [0, n)

  index_t whole = 0, rest = 0;  ///< n = whole k + rest
  double inverse = 0;           ///< 1 / k
};

/// A number in [0, range), range < 2^32, from 64 random bits. The relative error of the probability of each value is
/// below 2^-32.
KOKKOS_INLINE_FUNCTION constexpr index_t random_below(std::uint32_t high, std::uint32_t low, index_t range) {
  const auto r = static_cast<std::uint64_t>(range);
  return static_cast<index_t>((high * r + (low * r >> 32)) >> 32);
}

/// floor(j n / k), the first element of stratum j <= k, without a division: a product with 1 / k gives j rest / k with
/// an error of at most one, which is then corrected.
KOKKOS_INLINE_FUNCTION constexpr index_t stratum_begin(const Subset& subset, index_t j) {
  const auto product = static_cast<std::uint64_t>(j) * static_cast<std::uint64_t>(subset.rest);
  const auto quotient = static_cast<index_t>(static_cast<double>(product) * subset.inverse);
  const auto left =
      static_cast<index_t>(product - static_cast<std::uint64_t>(quotient) * static_cast<std::uint64_t>(subset.count));
  return j * subset.whole + quotient + (left >= subset.count ? 1 : 0) - (left < 0 ? 1 : 0);
}

/// The index of entry j, 0 <= j < count, relative to the bucket.
KOKKOS_INLINE_FUNCTION constexpr index_t subset_index(const Subset& subset, index_t j) {
  const index_t low = stratum_begin(subset, j), high = stratum_begin(subset, j + 1);
  const Array4 bits = threefry4x32_12(subset.key, stream_counter(j, random_stream::selection, 0));
  const index_t at = low + random_below(bits.x0, bits.x1, high - low) + subset.shift;
  return subset.first + (at < subset.elements ? at : at - subset.elements);
}

/// The stratum that holds `at`, the index of an element in the segment before the shift.
KOKKOS_INLINE_FUNCTION constexpr index_t stratum_of(const Subset& subset, index_t at) {
  auto j = static_cast<index_t>(static_cast<double>(at) * static_cast<double>(subset.count) /
                                static_cast<double>(subset.elements));
  while (stratum_begin(subset, j) > at) --j;
  while (stratum_begin(subset, j + 1) <= at) ++j;
  return j;
}

/// Calls f(j, index) for every entry whose element is one of first .. first + count - 1 of the bucket, which must all
/// be in the segment.
template <class F>
KOKKOS_INLINE_FUNCTION void for_entries(const Warp& warp, const Subset& subset, index_t first, index_t count,
                                        const F& f) {
  if (subset.count == 0) return;
  const index_t turned = subset.first + subset.shift;
  index_t begin = first < turned ? first - turned + subset.elements : first - turned;
  for (index_t left = count, run = 0; left > 0; left -= run, begin = 0) {  // twice, if the range crosses the shift
    run = left < subset.elements - begin ? left : subset.elements - begin;
    const index_t last = stratum_of(subset, begin + run - 1);
    for (index_t j = stratum_of(subset, begin); j <= last; j += warp_lanes) {
      Lanes<index_t> index;
      warp.each([&](int l) { index[l] = subset_index(subset, j + l); });  // a loop of its own, so that it vectorises
      warp.each([&](int l) {
        const index_t at = index[l] < turned ? index[l] - turned + subset.elements : index[l] - turned;
        if (j + l <= last && at >= begin && at < begin + run) f(j + l, index[l]);
      });
    }
  }
}

/// The subset of a segment, with key and shift. `rank`: the rank that draws, or every_rank.
Subset draw_subset(const Segment& segment, index_t count, index_t entry, std::uint64_t seed, std::int64_t step,
                   std::uint32_t rank = every_rank);

/// The first pass over the whole source together with gather_subsets(), in one pass over the `tiles` of the bucket.
/// Only for sources without a memory or with a residual. Notes elements that are not finite.
void touch_subsets(const Exec& exec, const Tiles& tiles, const Vector<Subset>& subsets, const Source& source,
                   const Span<float>& values, const Mark& mark);

/// out = weights(segment) * values[entry] at every entry and 0 elsewhere, in one pass over the `tiles` of the bucket.
void spread_subsets(const Exec& exec, const Tiles& tiles, const Vector<Subset>& subsets, const Vector<float>& weights,
                    const Span<const float>& values, const Span<float>& out);

/// values[entry] = a of each entry, which is reported to the source as sent exactly. `entries` are
/// the tiles of the message: segment s has subsets(s).count elements there.
void gather_subsets(const Exec& exec, const Tiles& entries, const Vector<Subset>& subsets, const Source& source,
                    const Span<float>& values);

/// out[index] += weights(segment) * values[entry] for every entry. `values` is the message of one
/// rank or the sum of those of all ranks.
void scatter_subsets(const Exec& exec, const Tiles& entries, const Vector<Subset>& subsets,
                     const Vector<float>& weights, const Span<const float>& values, const Span<float>& out);

}  // namespace gradcomp::kernels
