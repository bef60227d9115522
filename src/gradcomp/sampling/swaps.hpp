#pragma once
// Importance-aware resharding: which samples ranks swap so that all have about the same sum of losses. Importance
// sampling on each rank then draws as importance sampling over all samples would: a sample of rank k is drawn with
// probability loss / sum_k / ranks. Swaps of equal numbers keep the number of samples of every rank, and so its weight
// in the mean. The formula of Mercury's authors (Zeng et al. 2021) is not public; this rule is ours.
#include <span>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::sampling {

/// A sample that a rank offers to give away.
struct Offer {
  index_t sample = 0;
  float loss = 0;
  std::int32_t rank = 0;
};

/// `up` goes from its rank to the rank of `down`, and `down` the other way.
struct Swap {
  Offer up, down;
};

/// The offers of one rank: up to `max_swaps` of its samples with the largest losses, descending, and as many with the
/// smallest losses, ascending. Losses that are not finite are left out.
struct Offers {
  std::vector<Offer> high, low;
};
Offers offers_of(std::span<const index_t> samples, std::span<const float> losses, index_t max_swaps, int rank);

/// Plans swaps between the rank with the largest sum and the rank with the smallest sum, one after the other. Each swap
/// takes the largest loss with which the rank that is farther from the mean comes nearer to it. The plan ends when all
/// sums are within tolerance x mean of the mean, after `max_swaps` swaps, or when no swap helps. So at the end no sum
/// is farther from the mean than the farthest sum was at the beginning. `sums` and `offers` have one element per rank.
/// The result depends on the arguments alone, so all ranks make the same plan.
std::vector<Swap> plan_swaps(std::vector<double> sums, const std::vector<Offers>& offers, double tolerance,
                             index_t max_swaps);

}  // namespace gradcomp::sampling
