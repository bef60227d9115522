#pragma once
// A mean and its confidence interval.
#include <optional>
#include <string>
#include <vector>

namespace gradcomp::train {

/// Mean of samples and half the width of its 95 % confidence interval, by Student's t with n - 1 degrees of freedom,
/// for normal samples (Student 1908). A single sample has no interval. The mean is NaN without samples.
struct MeanInterval {
  explicit MeanInterval(const std::vector<double>& samples);

  double mean = 0;
  std::optional<double> half_width;

  /// The upper end; the mean itself if there is no interval.
  double upper() const { return mean + half_width.value_or(0); }

  /// "0.912 +- 0.004" with `digits` significant digits of the mean, "-" without samples.
  std::string text() const;
};

}  // namespace gradcomp::train
