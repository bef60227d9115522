#pragma once
// Classifiers of sequences of feature frames by stacked LSTMs: keywords from speech features. The hidden states of the
// last layer, averaged over time, go to a linear layer and a softmax.
#include <memory>
#include <vector>

#include "gradcomp/nn/networks/sequence_model.hpp"
#include "gradcomp/nn/recurrent/lstm_layer.hpp"

namespace gradcomp::nn {

/// Properties of a classifier; the data determine features, length and classes.
struct FrameNetwork {
  const char* name;
  int layers;
  index_t units;
  double dropout;  ///< rate in training, behind each layer
};

inline constexpr FrameNetwork frame_networks[] = {{"frames_lstm_1x64", 1, 64, 0}, {"frames_lstm_2x128", 2, 128, 0.2}};

/// Batch::features holds the frames, [sequences][length][features], with one label per sequence. Its tensors: those of
/// each layer (nn/recurrent/lstm_layer.hpp), linear.weight {units, classes}, linear.bias {classes}. Every sequence
/// starts with a hidden state of zeros; batches are independent of each other.
template <class T>
class LstmClassifier final : public SequenceModel<T> {
 public:
  LstmClassifier(const FrameNetwork& network, int features, int length, int max_batch, int classes, Path path);

  index_t buffer_count() const override { return 0; }
  index_t image_size() const override { return m_largest.steps * m_features; }  ///< elements of a sequence
  double step_flops() const override;                                           ///< per sequence

  /// Uniform in +-1 / sqrt(units), PyTorch's default for both kinds of layers.
  void initialise(std::uint64_t seed, const HostSpan<T>& parameters, const HostSpan<T>& buffers) const override;
  void backward(const Exec& exec, const Span<const T>& parameters, const Span<T>& gradient,
                const Ready& ready) override;

 private:
  using Base = SequenceModel<T>;
  using Base::add_decoder, Base::begin, Base::decode, Base::decode_backward, Base::drops, Base::dropout;
  using Base::m_largest, Base::m_shape, Base::m_path, Base::m_layout;

  void run(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch,
           bool training) override;
  Matrix<const T> output_of(std::size_t layer) const;
  Matrix<T> matrix(const Vector<T>& of, index_t rows, index_t columns) const;

  FrameNetwork m_network;
  index_t m_features;
  std::vector<LstmLayer<T>> m_layers;
  LstmWorkspace<T> m_workspace;
  Vector<T> m_frames;                ///< [length][sequences][features]
  Vector<T> m_h, m_c;                ///< the hidden state of one layer
  std::vector<Vector<T>> m_dropped;  ///< output of each layer behind its dropout; empty without dropout
  Vector<T> m_mean, m_mean_gradient;
  Vector<T> m_gradients[2];  ///< of the layers' outputs, used in turn
};

}  // namespace gradcomp::nn
