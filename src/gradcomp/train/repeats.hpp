#pragma once
// --seeds: one comparison repeated with several seeds, told as means with confidence intervals.
#include <optional>
#include <vector>

#include "gradcomp/report/row.hpp"
#include "gradcomp/report/table.hpp"
#include "gradcomp/train/result.hpp"

namespace gradcomp::train {

/// Mean of samples and half the width of its 95 % confidence interval by Student's t with n - 1 degrees of freedom
/// (Student 1908): of normal samples. No interval of a single sample; NaN without samples.
struct MeanInterval {
  explicit MeanInterval(const std::vector<double>& samples);

  double mean = 0;
  std::optional<double> half_width;

  /// "0.912 +- 0.004" with `digits` significant digits of the mean, "-" without samples.
  std::string text() const;
};

/// What one seed gave.
struct Repeat {
  std::uint64_t seed = 0;
  std::vector<MethodResult> results;  ///< in the order of the contenders, the same for all seeds
  std::vector<Verdict> verdicts;
};

/// The aggregate row "train/<model>/<label>/seeds" of contender `index`. Speed-ups only where every seed has them.
report::Row to_row(const std::vector<Repeat>& repeats, std::size_t index, const Options& options,
                   const std::string& data);

/// A line per contender: means +- half widths.
report::Table to_table(const std::vector<Repeat>& repeats);

}  // namespace gradcomp::train
