#pragma once
// A comparison over several emulated links: the step time over each link, and below which rate a method pays.
#include <string>
#include <vector>

#include "gradcomp/train/crossover.hpp"
#include "gradcomp/train/emulated_links.hpp"
#include "gradcomp/train/repeats.hpp"

namespace gradcomp::train {

struct LinkSweep {
  std::vector<Link> links;
  std::vector<std::vector<Verdict>> verdicts;  ///< [link][contender]

  /// The crossover of contender `index` of `repeats`; unknown for controls.
  Crossover crossover(const std::vector<Repeat>& repeats, std::size_t index) const;
};

/// Judges `repeats` over each of `links`.
LinkSweep sweep(const std::vector<Repeat>& repeats, const std::vector<Link>& links, const Rules& rules);

/// Adds the columns `over_links` and `pays` of contender `index` to its row, with seed number `seed` or over all seeds.
void add_links(report::Row& row, const LinkSweep& sweep, const std::vector<Repeat>& repeats, std::size_t index,
               std::size_t seed);
void add_links_over_seeds(report::Row& row, const LinkSweep& sweep, const std::vector<Repeat>& repeats,
                          std::size_t index);

/// A line per contender: step time and speed-up against the best dense control over each link, and where it pays.
report::Table to_table(const LinkSweep& sweep, const std::vector<Repeat>& repeats);

}  // namespace gradcomp::train
