#pragma once
// A threshold that leaves about k entries, found by counting: a search on the bit patterns of the threshold, eight
// candidates at a time, so that each read of the gradient narrows the interval by nine. Needs no distribution, and ends
// whatever the data are. Host arithmetic.
#include <algorithm>
#include <optional>
#include <vector>

#include "gradcomp/kernels/count_above.hpp"
#include "gradcomp/kernels/moments.hpp"

namespace gradcomp::compressors {

/// What a search is after.
struct CountGoal {
  index_t k = 0;      ///< wanted; fewer than there are nonzeros
  index_t least = 0;  ///< never fewer than this
  index_t most = 0;   ///< the search ends at a count of least .. most
  index_t limit = 0;  ///< when the reads are used up, up to so many will do
  int reads = 0;
};

class CountSearch {
 public:
  CountSearch() = default;

  /// Between max(S - k M, 2^-10 S) / nonzeros, S = sum |a| and M = max |a|, and min(M, S / k): by Markov's inequality
  /// fewer than k lie above the upper end, and at least k above the first of the lower ones; the second is for heavy
  /// tails, a k-th magnitude below a thousandth of the mean being left to the exact search. `guess` (a magnitude,
  /// negative: none): the first read looks at eight places within a factor 2^octaves of it.
  CountSearch(const CountGoal& goal, const kernels::Moments& moments, std::int32_t guess, double octaves);

  bool done() const;
  kernels::Probes probes() const;
  /// Takes the counts above probes().
  void advance(const kernels::Counts& counts);
  /// Whether advance() treats all counts from `count` on alike.
  bool enough(index_t count) const { return count > m_goal.limit; }

  /// The magnitude above which the count nearest to k (by its ratio) of those within the goal was found; none: the k
  /// largest cannot be told apart from others by a threshold (ties), or the reads did not do.
  std::optional<std::int32_t> threshold() const { return m_best; }

 private:
  double distance(index_t count) const;

  CountGoal m_goal;
  std::int32_t m_low = 0, m_high = 0;  ///< the threshold is above low and not above high
  std::int32_t m_guess = -1, m_reach = 0;
  index_t m_count = 0;  ///< above m_best
  std::optional<std::int32_t> m_best;
};

/// Counts until all searches are done. Search: done(), probes(), advance(counts), enough(count). `probes`: [searches]
/// work space. What the first pass collected saves reads: where it has enough, so have all probes below its bound.
template <class Search>
void search_thresholds(const Exec& exec, kernels::CountAbove& above, const kernels::Tiles& tiles, const float* a,
                       const kernels::Shortlist& shortlist, std::vector<Search>& searches,
                       std::vector<kernels::Probes>& probes) {
  const auto settled = [&](std::size_t s, std::int32_t probe) {
    return probe >= 0 && probe < shortlist.low[s] && searches[s].enough(shortlist.count[s]);
  };
  while (std::any_of(searches.begin(), searches.end(), [](const Search& search) { return !search.done(); })) {
    for (std::size_t s = 0; s < searches.size(); ++s) {
      probes[s] = searches[s].probes();
      for (auto& probe : probes[s])
        if (settled(s, probe)) probe = -1;
    }
    const auto& counted = above.run(exec, tiles, a, probes, &shortlist);
    for (std::size_t s = 0; s < searches.size(); ++s) {
      if (searches[s].done()) continue;
      kernels::Counts counts = counted[s];
      const kernels::Probes asked = searches[s].probes();
      for (std::size_t p = 0; p < asked.size(); ++p)
        if (settled(s, asked[p])) counts[p] = shortlist.count[s];
      searches[s].advance(counts);
    }
  }
}

}  // namespace gradcomp::compressors
