#pragma once
// Softmax and cross entropy of a batch, with its gradient.
#include "gradcomp/core/types.hpp"

namespace gradcomp::nn {

/// Whether the prediction for one sample was right.
enum class Hit : std::int32_t { wrong = 0, right = 1, bad_label = -1 };

/// logits: [batch][classes], with batch = labels.extent(0). Writes for each sample the loss, -ln softmax[label] in
/// nats, and whether the largest logit (the first of equal ones) is that of the label. If `gradient` is not empty,
/// writes the gradient of the sum of weight x loss / batch with respect to the logits. weights: [batch], or empty if
/// all are 1; they do not change `losses`. A label outside [0, classes) gives `bad_label`, loss 0 and gradient 0.
template <class T>
void softmax_cross_entropy(const Exec& exec, int classes, const Span<const T>& logits,
                           const Span<const std::int32_t>& labels, const Span<const float>& weights,
                           const Span<double>& losses, const Span<Hit>& hits, const Span<T>& gradient);

}  // namespace gradcomp::nn
