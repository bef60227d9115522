#pragma once
// The trivial predictor, which looks at no input. A model that is not better has learned nothing.
#include <map>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

/// How often each label occurs.
using LabelCounts = std::map<index_t, index_t>;

/// Accuracy and loss of the predictor that always gives the frequencies of the training labels.
struct Trivial {
  double accuracy = 0;  ///< share of the most frequent training label among the labels to predict
  double loss = 0;      ///< mean of -ln p(label) in nats, with p = (count + 1) / (all + classes) in the training set
  index_t count = 0;    ///< number of labels to predict
};

/// `to_predict` may contain labels that `train` does not. If one of the two is empty, all results are 0.
Trivial trivial_predictor(const LabelCounts& train, const LabelCounts& to_predict, index_t classes);

/// Counts the labels in a range of integers.
template <class Range>
LabelCounts count_labels(const Range& labels) {
  LabelCounts counts;
  for (const auto label : labels) ++counts[static_cast<index_t>(label)];
  return counts;
}

}  // namespace gradcomp::data
