#pragma once
// Causal self-attention with several heads (Vaswani et al. 2017, section 3.2): softmax(q k^T / sqrt(width)) v, where a
// step sees itself and the steps before it.
#include "gradcomp/nn/gemm/gemm.hpp"
#include "gradcomp/nn/sequence_shape.hpp"

namespace gradcomp::nn {

/// Rows are time-major, [steps][sequences]; a row of `qkv` is q, k and v one after another, each [heads][width].
struct AttentionShape {
  SequenceShape batch;
  index_t heads = 0, width = 0;

  index_t units() const { return heads * width; }
  index_t weights() const { return batch.sequences * heads * batch.steps * batch.steps; }
};

/// y: [rows][heads width]. weights: [sequences][heads][steps][steps], for the way back.
template <class T>
void attention_forward(const Exec& exec, const AttentionShape& shape, const Span<const T>& qkv, const Span<T>& weights,
                       const Span<T>& y, const GemmWorkspace<T>& workspace, Path path);

/// dqkv from dy. weight_gradients: scratch, as many as weights.
template <class T>
void attention_backward(const Exec& exec, const AttentionShape& shape, const Span<const T>& qkv,
                        const Span<const T>& weights, const Span<const T>& dy, const Span<T>& weight_gradients,
                        const Span<T>& dqkv, const GemmWorkspace<T>& workspace, Path path);

}  // namespace gradcomp::nn
