#pragma once
// k distinct elements of each segment, drawn without an array of n, alike on every rank or for one rank.
//
// Entry j of k comes from stratum j, elements [floor(j n / k), floor((j + 1) n / k)), and the whole choice is turned
// round the segment by a random shift. So the indices are distinct, and every element is chosen with probability
// exactly k / n, although strata differ in size by one; neighbours are chosen together more rarely than in a uniform
// subset, which the expectation and E ||C(x) - x||^2 of a scaled C do not see: both are sums over single elements.
#include <vector>

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
  index_t entry = 0;     ///< place of its first entry in the message
  Array4 key;            ///< of (seed, segment, step)
  index_t shift = 0;     ///< turn, in [0, n)

  index_t whole = 0, rest = 0;  ///< n = whole k + rest
  double inverse = 0;           ///< 1 / k
};

/// A number in [0, range), range < 2^32, of 64 random bits: each value's probability is off by less than 2^-32 of
/// itself.
KOKKOS_INLINE_FUNCTION constexpr index_t random_below(std::uint32_t high, std::uint32_t low, index_t range) {
  const auto r = static_cast<std::uint64_t>(range);
  return static_cast<index_t>((high * r + (low * r >> 32)) >> 32);
}

/// floor(j n / k), the first element of stratum j <= k, without a division: j rest / k by a product that is off by one
/// at most.
KOKKOS_INLINE_FUNCTION constexpr index_t stratum_begin(const Subset& subset, index_t j) {
  const auto product = static_cast<std::uint64_t>(j) * static_cast<std::uint64_t>(subset.rest);
  const auto quotient = static_cast<index_t>(static_cast<double>(product) * subset.inverse);
  const auto left =
      static_cast<index_t>(product - static_cast<std::uint64_t>(quotient) * static_cast<std::uint64_t>(subset.count));
  return j * subset.whole + quotient + (left >= subset.count ? 1 : 0) - (left < 0 ? 1 : 0);
}

/// Bucket-relative index of entry j in [0, count).
KOKKOS_INLINE_FUNCTION constexpr index_t subset_index(const Subset& subset, index_t j) {
  const index_t low = stratum_begin(subset, j), high = stratum_begin(subset, j + 1);
  const Array4 bits = threefry4x32_12(subset.key, stream_counter(j, random_stream::selection, 0));
  const index_t at = low + random_below(bits.x0, bits.x1, high - low) + subset.shift;
  return subset.first + (at < subset.elements ? at : at - subset.elements);
}

/// The stratum that holds `at`, an element of the segment before the turn.
KOKKOS_INLINE_FUNCTION constexpr index_t stratum_of(const Subset& subset, index_t at) {
  auto j = static_cast<index_t>(static_cast<double>(at) * static_cast<double>(subset.count) /
                                static_cast<double>(subset.elements));
  while (stratum_begin(subset, j) > at) --j;
  while (stratum_begin(subset, j + 1) <= at) ++j;
  return j;
}

/// f(j, index) for every entry whose element is one of first .. first + count - 1 of the bucket, all in the segment.
template <class F>
KOKKOS_INLINE_FUNCTION void for_entries(const Warp& warp, const Subset& subset, index_t first, index_t count,
                                        const F& f) {
  if (subset.count == 0) return;
  const index_t turned = subset.first + subset.shift;
  index_t begin = first < turned ? first - turned + subset.elements : first - turned;
  for (index_t left = count, run = 0; left > 0; left -= run, begin = 0) {  // a second time behind the turn's end
    run = left < subset.elements - begin ? left : subset.elements - begin;
    const index_t last = stratum_of(subset, begin + run - 1);
    for (index_t j = stratum_of(subset, begin); j <= last; j += warp_lanes) {
      Lanes<index_t> index;
      warp.each(
          [&](int l) { index[l] = subset_index(subset, j + l); });  // apart from the choice, so that it vectorises
      warp.each([&](int l) {
        const index_t at = index[l] < turned ? index[l] - turned + subset.elements : index[l] - turned;
        if (j + l <= last && at >= begin && at < begin + run) f(j + l, index[l]);
      });
    }
  }
}

/// The subset of a segment, its key and shift filled in. `rank`: whose draw it is, or every_rank's.
Subset draw_subset(const Segment& segment, index_t count, index_t entry, std::uint64_t seed, std::int64_t step,
                   std::uint32_t rank = every_rank);

/// First touch of the whole source and gather_subsets() in one pass over `tiles` of the bucket; only for sources
/// without a memory and with a residual, to which all can be given back. Counts the elements that were not finite.
void touch_subsets(const Exec& exec, const Tiles& tiles, const Vector<Subset>& subsets, const Source& source,
                   const Span<float>& values, const Tally& non_finite);

/// out = weights(segment) * values[entry] at every entry and 0 elsewhere, in one pass over `tiles` of the bucket.
void spread_subsets(const Exec& exec, const Tiles& tiles, const Vector<Subset>& subsets, const Vector<float>& weights,
                    const Span<const float>& values, const Span<float>& out);

/// values[entry] = a of each entry; tells the source that it was sent exactly. `entries` tiles the message: segment s
/// has subsets(s).count elements. Where `gate` is closed, nothing is done.
void gather_subsets(const Exec& exec, const Tiles& entries, const Vector<Subset>& subsets, const Source& source,
                    const Gate& gate, const Span<float>& values);

/// out[index] += weights(segment) * values[entry] for every entry, where `gate` is open; a message of other ranks' sum,
/// or one's own.
void scatter_subsets(const Exec& exec, const Tiles& entries, const Vector<Subset>& subsets,
                     const Vector<float>& weights, const Span<const float>& values, const Gate& gate,
                     const Span<float>& out);

}  // namespace gradcomp::kernels
