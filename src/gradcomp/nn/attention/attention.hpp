#pragma once
// Causal self-attention with several heads (Vaswani et al. 2017, section 3.2): softmax(q k^T / sqrt(width)) v. A step
// sees itself and all earlier steps.
#include "gradcomp/nn/gemm/gemm.hpp"
#include "gradcomp/nn/sequence_shape.hpp"

namespace gradcomp::nn {

/// Rows are time-major, [steps][sequences]. A row of `qkv` contains q, k and v in this order, each [heads][width].
struct AttentionShape {
  SequenceShape batch;
  index_t heads = 0, width = 0;

  index_t units() const { return heads * width; }
  index_t weights() const { return batch.sequences * heads * batch.steps * batch.steps; }
};

/// Writes y, [rows][heads x width], and the weights of the attention, [sequences][heads][steps][steps], which
/// attention_backward() needs.
template <class T>
void attention_forward(const Exec& exec, const AttentionShape& shape, const Span<const T>& qkv, const Span<T>& weights,
                       const Span<T>& y, const GemmWorkspace<T>& workspace, Path path);

/// Writes dqkv, the gradient of qkv, from dy, that of y. weight_gradients: scratch of the same size as weights.
template <class T>
void attention_backward(const Exec& exec, const AttentionShape& shape, const Span<const T>& qkv,
                        const Span<const T>& weights, const Span<const T>& dy, const Span<T>& weight_gradients,
                        const Span<T>& dqkv, const GemmWorkspace<T>& workspace, Path path);

}  // namespace gradcomp::nn
