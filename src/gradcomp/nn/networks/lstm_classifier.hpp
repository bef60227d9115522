#pragma once
// Classifiers of sequences of feature frames by stacked LSTMs: keywords from speech features. The hidden states of the
// last layer, averaged over time, go to a linear layer and a softmax.
#include <memory>
#include <vector>

#include "gradcomp/nn/layers/dropout.hpp"
#include "gradcomp/nn/model.hpp"
#include "gradcomp/nn/networks/decoder.hpp"
#include "gradcomp/nn/recurrent/lstm_layer.hpp"

namespace gradcomp::nn {

/// What a classifier is made of; features, length and classes come from the data.
struct FrameNetwork {
  const char* name;
  int layers;
  index_t units;
  double dropout;  ///< rate in training, behind each layer
};

inline constexpr FrameNetwork frame_networks[] = {{"frames_lstm_1x64", 1, 64, 0}, {"frames_lstm_2x128", 2, 128, 0.2}};

/// Batch::images holds the frames, [sequences][length][features], with one label per sequence. Its tensors: those of
/// each layer (nn/recurrent/lstm_layer.hpp), linear.weight {units, classes}, linear.bias {classes}. Every sequence
/// starts from a hidden state of zeros; nothing goes from one batch to the next.
template <class T>
class LstmClassifier final : public Model<T> {
 public:
  LstmClassifier(const FrameNetwork& network, int features, int length, int max_batch, int classes, Path path);

  const std::string& name() const override { return m_name; }
  const Layout& layout() const override { return m_layout; }
  index_t buffer_count() const override { return 0; }
  int max_batch() const override { return static_cast<int>(m_largest.sequences); }
  int classes() const override { return m_classes; }
  index_t image_size() const override { return m_largest.steps * m_features; }  ///< elements of a sequence
  double step_flops() const override;                                           ///< per sequence

  /// Uniform in +-1 / sqrt(units), PyTorch's default for both kinds of layers.
  void initialise(std::uint64_t seed, const HostSpan<T>& parameters, const HostSpan<T>& buffers) const override;
  void forward(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers,
               const Batch<T>& batch) override;
  void backward(const Exec& exec, const Span<const T>& parameters, const Span<T>& gradient,
                const Ready& ready) override;
  void infer(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch) override;
  Loss loss(const Exec& exec) override { return m_classifier.loss(exec, m_name); }
  void sample_losses(const Exec& exec, const Span<float>& losses) const override {
    m_classifier.losses().sample_losses(exec, m_name, losses);
  }

 private:
  void run(const Exec& exec, const Span<const T>& parameters, const Batch<T>& batch, bool training);
  Matrix<const T> output_of(std::size_t layer) const;
  Dropout dropout(std::size_t layer) const;
  Matrix<T> matrix(const Vector<T>& of, index_t rows, index_t columns) const;
  Span<const T> tensor(const Span<const T>& of, std::size_t segment) const;

  FrameNetwork m_network;
  std::string m_name;
  index_t m_features;
  int m_classes;
  SequenceShape m_largest, m_shape;  ///< m_shape: of the last forward
  Path m_path;
  Layout m_layout;
  std::vector<LstmLayer<T>> m_layers;
  std::size_t m_linear;  ///< segment of its weight
  Decoder<T> m_classifier;
  LstmWorkspace<T> m_workspace;
  bool m_dropping = false;           ///< in the last forward
  std::uint64_t m_key = 0;           ///< of its batch
  Vector<T> m_frames;                ///< [length][sequences][features]
  Vector<T> m_h, m_c;                ///< the hidden state of one layer
  std::vector<Vector<T>> m_dropped;  ///< what leaves each layer, with dropout
  Vector<T> m_mean, m_mean_gradient;
  Vector<T> m_gradients[2];  ///< of the layers' outputs, by turns
};

}  // namespace gradcomp::nn
