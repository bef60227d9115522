#pragma once
// Importance-aware resharding: which samples ranks swap, so that each has about the same sum of losses. Importance
// sampling of each rank's own samples then draws as one over all samples would: a sample of rank k is drawn with
// probability loss / sum_k / ranks. Whole swaps keep the number of samples of every rank, and with it the weight of the
// rank in the mean. The formula of Mercury's authors is not public; this rule is ours.
#include <span>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::sampling {

/// A sample that a rank would give.
struct Offer {
  index_t sample = 0;
  float loss = 0;
  std::int32_t rank = 0;
};

/// `up` goes from its rank to the other's, `down` the other way.
struct Swap {
  Offer up, down;
};

/// The offers of one rank: up to `max_swaps` of its samples with the largest losses, descending, and as many with the
/// smallest, ascending. Losses that are not finite are left out.
struct Offers {
  std::vector<Offer> high, low;
};
Offers offers_of(std::span<const index_t> samples, std::span<const float> losses, index_t max_swaps, int rank);

/// Swaps again and again between the rank with the largest sum and the rank with the smallest. Each swap takes the
/// largest loss that brings the rank that is farther from the mean nearer to it. Ends when all sums are within
/// tolerance x mean of the mean, after `max_swaps` swaps, or when no swap helps. So no sum is farther from the mean at
/// the end than the farthest was at the beginning. The same on all ranks for the same arguments; `sums` and `offers` by
/// rank.
std::vector<Swap> plan_swaps(std::vector<double> sums, const std::vector<Offers>& offers, double tolerance,
                             index_t max_swaps);

}  // namespace gradcomp::sampling
