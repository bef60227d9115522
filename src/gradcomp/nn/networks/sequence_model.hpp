#pragma once
// The common base of models of sequences: names and sizes, one forward pass for training and inference, dropout with
// the key of the batch, and a decoder with its losses at the end.
#include <string>

#include "gradcomp/nn/layers/dropout.hpp"
#include "gradcomp/nn/model.hpp"
#include "gradcomp/nn/networks/decoder.hpp"
#include "gradcomp/nn/sequence_shape.hpp"

namespace gradcomp::nn {

/// Properties of a model of sequences. Derived classes check them first.
struct SequenceSetup {
  const char* name;
  SequenceShape largest;
  index_t units;  ///< of the decoder's input
  int classes;
  bool tied;           ///< the decoder's matrix is the first tensor, the embedding
  index_t max_labels;  ///< largest number of labels in a batch
  double dropout;      ///< rate in training
  Path path;
};

template <class T>
class SequenceModel : public Model<T> {
 public:
  const std::string& name() const final { return m_name; }
  const Layout& layout() const final { return m_layout; }
  int max_batch() const final { return static_cast<int>(m_largest.sequences); }
  int classes() const final { return m_classes; }

  void forward(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch) final {
    run(exec, parameters, buffers, batch, true);
  }
  void infer(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch) final {
    run(exec, parameters, buffers, batch, false);
  }
  Loss loss(const Exec& exec) final { return m_decoder.loss(exec, m_name); }
  void sample_losses(const Exec& exec, const Span<float>& losses) const final {
    m_decoder.losses().sample_losses(exec, m_name, losses);
  }

 protected:
  explicit SequenceModel(const SequenceSetup& setup);

  /// The forward pass, with dropout if `training` is true. It calls begin() first and decode() last.
  virtual void run(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch,
                   bool training) = 0;

  /// Notes the shape of the batch, its key and the rate of dropout.
  void begin(const SequenceShape& shape, const Batch<T>& batch, bool training);
  bool drops() const { return m_rate > 0; }  ///< in the last run()
  Dropout dropout(std::size_t layer) const;

  /// Adds the last tensors of the layout: prefix + "weight" {units, classes} unless tied, prefix + "bias" {classes}.
  void add_decoder(const char* prefix);
  /// The last layer, and the first step of the backward pass, which writes the gradient of x to dx.
  void decode(const Exec& exec, const Matrix<const T>& x, const Span<const T>& parameters, const Batch<T>& batch,
              bool training, const GemmWorkspace<T>& workspace);
  void decode_backward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& parameters,
                       const Span<T>& gradient, const Ready& ready, const Matrix<T>& dx,
                       const GemmWorkspace<T>& workspace);

  SequenceShape m_largest, m_shape;  ///< m_shape: of the last run()
  Path m_path;
  Layout m_layout;

 private:
  const Segment& decoder_weight() const { return m_layout.segments[m_tied ? 0 : m_decoder_segment]; }

  std::string m_name;
  index_t m_units;
  int m_classes;
  bool m_tied;
  double m_dropout, m_rate = 0;  ///< m_rate: in the last run()
  std::uint64_t m_key = 0;       ///< of its batch
  std::size_t m_decoder_segment = 0;
  Decoder<T> m_decoder;
};

}  // namespace gradcomp::nn
