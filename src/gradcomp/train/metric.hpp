#pragma once
// What quality means: the figure that methods are compared by, of the kind of the task.
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
  bool higher_is_better = true;  ///< of accuracy

  /// The value of a loss over some set, and of the predictor that looks at no input.
  double of(const nn::Loss& loss) const;
  double of(const Trivial& trivial) const;

  /// True when `value` is as good as `bound` or better. Never of a NaN.
  bool reaches(double value, double bound) const;

  /// What `value` lacks to `reference`, below 0 where it is better: of accuracies their difference, of perplexities the
  /// logarithm of their ratio (a difference of losses).
  double lack(double value, double reference) const;

  /// The most that may be lacking: accuracies by points (0.02: two points of a hundred), perplexities by their ratio
  /// (0.02: 2 % more).
  double limit(double tolerance) const;

  /// Whether `value` is so far above the trivial predictor that matching it says something: by five times what the
  /// tolerance allows, by 0.05 at least, and of accuracies by three standard errors of the trivial one.
  bool learned(double value, const Trivial& trivial, double tolerance) const;

  /// "the accuracy is at least fp32's - 0.02", "the perplexity is at most fp32's x 1.02".
  std::string rule(double tolerance) const;

  /// For tables: "93.4 %", "12.3".
  std::string text(double value) const;
};

}  // namespace gradcomp::train
