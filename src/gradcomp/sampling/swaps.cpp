#include "gradcomp/sampling/swaps.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

namespace gradcomp::sampling {
namespace {

/// The swap with the largest loss that brings the farther of the two ranks nearer to the mean.
std::optional<Swap> best_swap(const Offers& donor, const Offers& receiver, double above, double below,
                              const std::set<index_t>& moved) {
  const auto is_free = [&](const Offer& offer) { return !moved.contains(offer.sample); };
  const auto low = std::find_if(receiver.low.begin(), receiver.low.end(), is_free);
  if (low == receiver.low.end()) return std::nullopt;
  const double farther = std::max(std::abs(above), std::abs(below));
  for (const Offer& high : donor.high) {
    const double change = static_cast<double>(high.loss) - static_cast<double>(low->loss);
    if (change <= 0) break;
    if (!is_free(high)) continue;
    if (std::max(std::abs(above - change), std::abs(below + change)) < farther) return Swap{high, *low};
  }
  return std::nullopt;
}

}  // namespace

Offers offers_of(std::span<const index_t> samples, std::span<const float> losses, index_t max_swaps, int rank) {
  std::vector<Offer> all;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (std::isfinite(losses[i])) all.push_back({samples[i], losses[i], rank});
  }
  const auto before = [](const Offer& a, const Offer& b) {
    return a.loss != b.loss ? a.loss > b.loss : a.sample < b.sample;
  };
  std::sort(all.begin(), all.end(), before);
  const std::ptrdiff_t kept = std::min<std::ptrdiff_t>(max_swaps, std::ssize(all));
  return {{all.begin(), all.begin() + kept}, {all.rbegin(), all.rbegin() + kept}};
}

std::vector<Swap> plan_swaps(std::vector<double> sums, const std::vector<Offers>& offers, double tolerance,
                             index_t max_swaps) {
  std::vector<Swap> swaps;
  std::set<index_t> moved;
  const double mean = std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(sums.size());
  while (std::ssize(swaps) < max_swaps) {
    const auto donor = static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
    const auto receiver = static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin());
    const double above = sums[donor] - mean, below = sums[receiver] - mean;
    if (std::max(above, -below) <= tolerance * mean) break;
    const auto swap = best_swap(offers[donor], offers[receiver], above, below, moved);
    if (!swap) break;
    const double change = static_cast<double>(swap->up.loss) - static_cast<double>(swap->down.loss);
    sums[donor] -= change;
    sums[receiver] += change;
    moved.insert({swap->up.sample, swap->down.sample});
    swaps.push_back(*swap);
  }
  return swaps;
}

}  // namespace gradcomp::sampling
