#pragma once
// The question of the whole suite: from which rate of the link down does a method pay? Pure arithmetic over verdicts.
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/train/mean_interval.hpp"
#include "gradcomp/train/verdict.hpp"

namespace gradcomp::train {

struct Crossover {
  enum class Kind { unknown, nowhere, below, everywhere };

  Kind kind = Kind::unknown;             ///< of the rates that were swept
  double bits_per_second = 0;            ///< of `below`: the method pays on slower links
  std::optional<double> low, high = {};  ///< ends of its 95 % interval; none with one seed

  /// "pays below 340 Mbit/s (310 to 370)", "pays at every rate swept", "pays at no rate swept", "-".
  std::string text() const;
};

/// Where a speed-up passes 1 as the link gets faster: `speedups` at `rates` (bit/s, ascending), logarithms interpolated
/// between two rates. The crossing at the highest rate counts. Infinity: above 1 at the highest rate; 0: at no rate.
double last_rate_that_pays(const std::vector<double>& rates, const std::vector<double>& speedups);

/// Of one method: `verdicts[l]` at `rates[l]` (bit/s, any order), against the best dense control. The mean over seeds
/// is that of the logarithms, as its interval is. Seeds that do not all cross between the swept rates are told by the
/// mean of their speed-ups, without an interval. Unknown where a speed-up is missing.
Crossover crossover(const std::vector<double>& rates, const std::vector<Verdict>& verdicts);

}  // namespace gradcomp::train
