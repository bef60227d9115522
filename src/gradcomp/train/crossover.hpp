#pragma once
// The main question of a sweep over links: below which rate does a method pay? Pure arithmetic over verdicts.
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/train/mean_interval.hpp"
#include "gradcomp/train/verdict.hpp"

namespace gradcomp::train {

struct Crossover {
  enum class Kind { unknown, nowhere, below, everywhere };

  Kind kind = Kind::unknown;             ///< where the method pays among the swept rates
  double bits_per_second = 0;            ///< of Kind::below: the method pays on slower links
  std::optional<double> low, high = {};  ///< ends of the 95 % interval; none with one seed; low 0: at no rate for
                                         ///< certain; high infinite: beyond the highest rate swept
  double slowest_swept = 0, fastest_swept = 0;

  /// "pays below 340 Mbit/s (310 to 370)", "pays at every rate swept", "pays at no rate swept", "-"; with
  /// several seeds, the two in the middle also say up to which rate that is certain or possible.
  std::string text() const;
};

/// The rate at which a speed-up falls below 1 as the link gets faster: `speedups` at `rates` (bit/s, ascending), with
/// logarithms interpolated between two rates. Of several such rates the highest counts. Infinity if the speed-up is
/// above 1 at the highest rate; 0 if it is above 1 at no rate. A speed-up of 0 or less (the lower end of an interval)
/// puts the crossing at the rate before it.
double last_rate_that_pays(const std::vector<double>& rates, const std::vector<double>& speedups);

/// The crossover of one method: `verdicts[l]` at `rates[l]` (bit/s, any order), against the best dense control. Mean
/// and interval over seeds are those of the logarithms. If not all seeds cross between the swept rates, the crossover
/// is that of the mean speed-ups, and its interval ends where the lower and the upper ends of their 95 % intervals
/// cross. Unknown if a speed-up is missing.
Crossover crossover(const std::vector<double>& rates, const std::vector<Verdict>& verdicts);

}  // namespace gradcomp::train
