#pragma once
// Word-level language models of decoder-only Transformers in the manner of GPT-2 (Radford et al. 2019): embedding plus
// learned positions, pre-norm blocks of causal attention and an MLP of four times the width, a last normalisation, a
// linear decoder, softmax.
#include <vector>

#include "gradcomp/nn/attention/transformer_block.hpp"
#include "gradcomp/nn/networks/sequence_model.hpp"

namespace gradcomp::nn {

/// Properties of a Transformer; the data determine the vocabulary.
struct TransformerNetwork {
  const char* name;
  int blocks;
  index_t units, heads;
  bool tied;       ///< the decoder's matrix is the embedding's
  double dropout;  ///< rate in training: of the embedding and of what each part of a block adds
};

/// Networks that users can name; they are small, for tasks that take minutes.
inline constexpr TransformerNetwork transformer_networks[] = {{"transformer_2x128", 2, 128, 4, true, 0},
                                                              {"transformer_4x256", 4, 256, 4, true, 0.1}};

/// Its tensors: embedding.weight {vocabulary, units}, position.weight {length, units}; of each block norm1, attention.
/// input {units, 3 units}, attention.output {units, units}, norm2, mlp.input {units, 4 units}, mlp.output {4 units,
/// units}, each weight and bias; norm; decoder.weight {units, vocabulary} unless tied; decoder.bias {vocabulary}.
///
/// The sequences of a batch are independent of other batches, so `restart` changes nothing.
template <class T>
class TransformerLanguageModel final : public SequenceModel<T> {
 public:
  /// Batches of 1 to `max_batch` sequences with `length` tokens each. Throws Error for sizes that make no network.
  TransformerLanguageModel(const TransformerNetwork& network, int vocabulary, int length, int max_batch, Path path);

  index_t buffer_count() const override { return 0; }
  index_t image_size() const override { return 0; }
  double step_flops() const override;  ///< per token, without the attention's own products

  /// As GPT-2: matrices are normal with deviation 0.02, which is divided by sqrt(2 blocks) for the last matrix of each
  /// part of a block; biases are 0 and scales 1.
  void initialise(std::uint64_t seed, const HostSpan<T>& parameters, const HostSpan<T>& buffers) const override;
  void backward(const Exec& exec, const Span<const T>& parameters, const Span<T>& gradient,
                const Ready& ready) override;

 private:
  using Base = SequenceModel<T>;
  using Base::add_decoder, Base::begin, Base::decode, Base::decode_backward, Base::drops, Base::dropout;
  using Base::m_largest, Base::m_shape, Base::m_path, Base::m_layout;

  void run(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch,
           bool training) override;
  Matrix<T> rows(const Vector<T>& of) const;
  AttentionShape attention(const SequenceShape& batch) const;

  TransformerNetwork m_network;
  std::vector<TransformerBlock<T>> m_blocks;
  std::size_t m_norm_segment = 0;
  std::vector<NormUnit<T>> m_norm;  ///< one; constructed behind the blocks, in the order of the layout
  TransformerWorkspace<T> m_workspace;
  Vector<std::int32_t> m_tokens;         ///< [steps][sequences]
  std::vector<Vector<T>> m_activations;  ///< the input of each block, and the output of the last one
  Vector<T> m_gradient;
};

}  // namespace gradcomp::nn
