#pragma once
// The predictor that looks at no input: what a model must beat before it has learned anything.
#include <map>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

/// How often each label occurs.
using LabelCounts = std::map<index_t, index_t>;

/// Of the predictor that always gives the frequencies of the training labels.
struct Trivial {
  double accuracy = 0;  ///< share of the most frequent training label among the labels to predict
  double loss = 0;      ///< nats: mean of -ln p(label), p = (count + 1) / (all + classes) in the training set
  index_t count = 0;    ///< labels to predict
};

/// `to_predict` may hold labels that `train` lacks. Of nothing to predict: zeros.
Trivial trivial_predictor(const LabelCounts& train, const LabelCounts& to_predict, index_t classes);

/// The labels of a range of integers.
template <class Range>
LabelCounts count_labels(const Range& labels) {
  LabelCounts counts;
  for (const auto label : labels) ++counts[static_cast<index_t>(label)];
  return counts;
}

}  // namespace gradcomp::data
