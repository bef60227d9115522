#pragma once
// --seeds: one comparison repeated with several seeds, reported as means with confidence intervals.
#include <vector>

#include "gradcomp/report/row.hpp"
#include "gradcomp/report/table.hpp"
#include "gradcomp/train/mean_interval.hpp"
#include "gradcomp/train/result.hpp"

namespace gradcomp::train {

/// The results of one seed.
struct Repeat {
  std::uint64_t seed = 0;
  std::vector<MethodResult> results;  ///< in the order of the contenders, the same for all seeds
};

/// The results of every seed as verdict.hpp takes them, with the step times over one of the job's links.
std::vector<Entrant> entrants(const std::vector<Repeat>& repeats, index_t link = 0);

/// {"mean", "low", "high"}; null without samples. low and high are null if there is no interval.
report::Json to_json(const MeanInterval& interval);

/// The aggregate row "train/<model>/<label>/seeds" of contender `index`. It has speed-ups only if every seed has them.
report::Row to_row(const std::vector<Repeat>& repeats, const std::vector<Verdict>& verdicts, std::size_t index,
                   const Options& options, const std::string& data);

/// A line per contender: means +- half widths.
report::Table to_table(const std::vector<Repeat>& repeats, const std::vector<Verdict>& verdicts);

}  // namespace gradcomp::train
