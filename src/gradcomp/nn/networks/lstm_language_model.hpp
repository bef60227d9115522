#pragma once
// Word-level language models of stacked LSTMs (Zaremba et al. 2014): embedding, layers with dropout on all connections
// but the recurrent ones, a linear decoder, softmax.
#include <vector>

#include "gradcomp/nn/networks/sequence_model.hpp"
#include "gradcomp/nn/recurrent/lstm_layer.hpp"

namespace gradcomp::nn {

/// Properties of a language model; the data determine the vocabulary.
struct LstmNetwork {
  const char* name;
  int layers;
  index_t units, embedding;
  bool tied;       ///< the decoder's matrix is the embedding's; needs units = embedding
  double dropout;  ///< rate in training
};

/// Networks that users can name. 2x200 and 2x650: the small and the medium network of Zaremba et al. 3x650: the network
/// of PowerSGD (Vogels et al. 2019), whose code has a dropout rate of 0.4. The others are for tasks that take minutes.
inline constexpr LstmNetwork lstm_networks[] = {{"lstm_1x96", 1, 96, 96, false, 0},
                                                {"lstm_1x128", 1, 128, 128, false, 0},
                                                {"lstm_2x200", 2, 200, 200, false, 0},
                                                {"lstm_2x650", 2, 650, 650, false, 0.5},
                                                {"lstm_3x650", 3, 650, 650, true, 0.4}};

/// Its tensors: embedding.weight {vocabulary, embedding}, those of each layer (nn/recurrent/lstm_layer.hpp),
/// decoder.weight {units, vocabulary} unless tied, decoder.bias {vocabulary}.
///
/// The buffers hold the hidden state that a batch passes to the next one, [layer][h, c][max_batch][units]. Row s
/// belongs to sequence s of the batch. So sequence s of the next batch must continue this sequence, or `restart` must
/// be set. A batch of fewer than max_batch sequences uses and changes only the first rows.
template <class T>
class LstmLanguageModel final : public SequenceModel<T> {
 public:
  /// Batches of 1 to `max_batch` sequences with `length` tokens each. Throws Error for sizes that make no network.
  LstmLanguageModel(const LstmNetwork& network, int vocabulary, int length, int max_batch, Path path);

  index_t buffer_count() const override { return 2 * m_network.layers * m_largest.sequences * m_network.units; }
  index_t image_size() const override { return 0; }
  double step_flops() const override;  ///< per token

  /// As PyTorch's example word_language_model: embedding and decoder uniform in +-0.1, all of the layers uniform in
  /// +-1 / sqrt(units), the decoder's bias 0. (Zaremba et al. draw everything from +-0.1, +-0.05 for 650 units.)
  void initialise(std::uint64_t seed, const HostSpan<T>& parameters, const HostSpan<T>& buffers) const override;
  void backward(const Exec& exec, const Span<const T>& parameters, const Span<T>& gradient,
                const Ready& ready) override;

 private:
  using Base = SequenceModel<T>;
  using Base::add_decoder, Base::begin, Base::decode, Base::decode_backward, Base::drops, Base::dropout;
  using Base::m_largest, Base::m_shape, Base::m_path, Base::m_layout;

  void run(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch,
           bool training) override;
  Matrix<const T> input_of(std::size_t layer) const;
  Matrix<T> rows(const Vector<T>& of, index_t columns) const;

  LstmNetwork m_network;
  std::vector<LstmLayer<T>> m_layers;
  LstmWorkspace<T> m_workspace;
  Vector<std::int32_t> m_tokens;    ///< [steps][sequences]
  std::vector<Vector<T>> m_inputs;  ///< of each layer and of the decoder; without dropout only the first
  Vector<T> m_gradients[2];         ///< of the inputs, used in turn
};

}  // namespace gradcomp::nn
