#include "gradcomp/nn/networks/sequence_model.hpp"

namespace gradcomp::nn {

template <class T>
SequenceModel<T>::SequenceModel(const SequenceSetup& setup)
    : m_largest(setup.largest),
      m_shape(setup.largest),
      m_path(setup.path),
      m_name(setup.name),
      m_units(setup.units),
      m_classes(setup.classes),
      m_tied(setup.tied),
      m_dropout(setup.dropout),
      m_decoder(setup.units, setup.classes, setup.tied, setup.max_labels) {}

template <class T>
void SequenceModel<T>::begin(const SequenceShape& shape, const Batch<T>& batch, bool training) {
  m_shape = shape;
  m_rate = training ? m_dropout : 0;
  m_key = batch.key;
}

template <class T>
Dropout SequenceModel<T>::dropout(std::size_t layer) const {
  return {m_rate, m_key, static_cast<index_t>(layer), m_shape.sequences, m_shape.steps};
}

template <class T>
void SequenceModel<T>::add_decoder(const char* prefix) {
  m_decoder_segment = m_layout.segments.size();
  if (!m_tied) m_layout.add(std::string(prefix) + "weight", {m_units, m_classes});
  m_layout.add(std::string(prefix) + "bias", {m_classes});
}

template <class T>
void SequenceModel<T>::decode(const Exec& exec, const Matrix<const T>& x, const Span<const T>& parameters,
                              const Batch<T>& batch, bool training, const GemmWorkspace<T>& workspace) {
  this->need(m_decoder_segment);
  const Segment &weight = decoder_weight(), &bias = m_layout.segments.back();
  m_decoder.forward(exec, x, subspan(parameters, weight.offset, weight.count),
                    subspan(parameters, bias.offset, bias.count), batch, m_shape.sequences, training, workspace,
                    m_path);
}

template <class T>
void SequenceModel<T>::decode_backward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& parameters,
                                       const Span<T>& gradient, const Ready& ready, const Matrix<T>& dx,
                                       const GemmWorkspace<T>& workspace) {
  const Segment &weight = decoder_weight(), &bias = m_layout.segments.back();
  m_decoder.backward(exec, x, subspan(parameters, weight.offset, weight.count),
                     subspan(gradient, weight.offset, weight.count), subspan(gradient, bias.offset, bias.count), ready,
                     m_decoder_segment, dx, workspace, m_path);
}

template class SequenceModel<float>;
template class SequenceModel<double>;

}  // namespace gradcomp::nn
