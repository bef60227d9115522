#pragma once
// What quality means for each kind of task: the figure by which methods are compared.
#include <string>

#include "gradcomp/core/input_shape.hpp"
#include "gradcomp/data/trivial.hpp"
#include "gradcomp/nn/model.hpp"

namespace gradcomp::train {

using data::Trivial;

struct Metric {
  /// Images and frames: accuracy, 0 to 1. Tokens: perplexity, exp of the mean loss in nats, from 1.
  explicit Metric(InputShape::Kind kind = InputShape::Kind::images);

  std::string name;              ///< "accuracy" or "perplexity"
  bool higher_is_better = true;  ///< true for accuracy

  /// The value of a loss over some set, and that of the trivial predictor.
  double of(const nn::Loss& loss) const;
  double of(const Trivial& trivial) const;

  /// True if `value` is as good as `bound` or better. False for NaN.
  bool reaches(double value, double bound) const;

  /// How much worse `value` is than `reference`; negative if it is better. For accuracies this is their difference, for
  /// perplexities the logarithm of their ratio (a difference of losses).
  double lack(double value, double reference) const;

  /// The largest lack that `tolerance` allows: for accuracies in points (0.02: two points of a hundred), for
  /// perplexities by their ratio (0.02: 2 % more).
  double limit(double tolerance) const;

  /// A quality so much better than the trivial predictor that matching it says something: by five times what the
  /// tolerance allows, by at least 0.05, and for accuracies by three standard errors of the trivial predictor.
  double enough(const Trivial& trivial, double tolerance) const;

  /// For tables: "93.4 %", "12.3"; and of a lack "0.7 points", "1.3 %", "-" for NaN.
  std::string text(double value) const;
  std::string lack_text(double lack) const;
};

}  // namespace gradcomp::train
