#pragma once
// Softmax and cross entropy of a batch, with its gradient.
#include "gradcomp/core/types.hpp"

namespace gradcomp::nn {

/// What one image's prediction came to.
enum class Hit : std::int32_t { wrong = 0, right = 1, bad_label = -1 };

/// logits: [batch][classes] with batch = labels.extent(0). Writes for each image the loss, -log softmax[label] in nats,
/// whether the largest logit (the first of equals) is the label's, and, unless `gradient` is empty, the gradient of
/// 1 / batch x the sum of weight x loss. weights: [batch], or empty where all are 1; losses are without them. A label
/// outside [0, classes) gives `bad_label`, no loss and no gradient.
template <class T>
void softmax_cross_entropy(const Exec& exec, int classes, const Span<const T>& logits,
                           const Span<const std::int32_t>& labels, const Span<const float>& weights,
                           const Span<double>& losses, const Span<Hit>& hits, const Span<T>& gradient);

}  // namespace gradcomp::nn
