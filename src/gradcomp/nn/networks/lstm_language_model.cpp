#include "gradcomp/nn/networks/lstm_language_model.hpp"

#include <algorithm>
#include <cmath>

#include "gradcomp/core/error.hpp"
#include "gradcomp/nn/layers/embedding.hpp"
#include "gradcomp/nn/networks/initialise.hpp"
#include "gradcomp/nn/networks/texts.hpp"

namespace gradcomp::nn {
namespace {

void check(const LstmNetwork& network, int vocabulary, int length, int max_batch) {
  require(network.layers > 0 && network.units > 0 && network.embedding > 0,
          "{}: needs at least one layer, unit and element of the embedding, not {}, {} and {}", network.name,
          network.layers, network.units, network.embedding);
  require(!network.tied || network.units == network.embedding,
          "{}: a decoder tied to the embedding needs as many units as the embedding has elements, not {} and {}",
          network.name, network.units, network.embedding);
  require_dropout(network.name, network.dropout);
  require_texts(network.name, vocabulary, length, max_batch);
}

}  // namespace

template <class T>
LstmLanguageModel<T>::LstmLanguageModel(const LstmNetwork& network, int vocabulary, int length, int max_batch,
                                        Path path)
    : m_network((check(network, vocabulary, length, max_batch), network)),
      m_name(network.name),
      m_vocabulary(vocabulary),
      m_largest{length, max_batch},
      m_path(path),
      m_decoder(network.units, vocabulary, network.tied, m_largest.rows()),
      m_workspace(m_largest, network.units),
      m_tokens("gradcomp::nn::tokens", m_largest.rows()) {
  m_layout.add("embedding.weight", {vocabulary, network.embedding}, true);
  m_layers.reserve(static_cast<std::size_t>(network.layers));
  for (int layer = 0; layer < network.layers; ++layer) {
    const index_t in = layer == 0 ? network.embedding : network.units;
    m_layers.emplace_back(m_layout, fmt::format("lstm.layer{}.", layer + 1), in, network.units, m_largest);
  }
  m_decoder_segment = m_layout.segments.size();
  if (!network.tied) m_layout.add("decoder.weight", {network.units, vocabulary});
  m_layout.add("decoder.bias", {vocabulary});
  m_inputs.emplace_back("gradcomp::nn::embedded", m_largest.rows() * network.embedding);
  for (int layer = 0; layer < network.layers && network.dropout > 0; ++layer) {
    m_inputs.emplace_back("gradcomp::nn::dropped", m_largest.rows() * network.units);
  }
  for (Vector<T>& gradient : m_gradients) {
    gradient = Vector<T>("gradcomp::nn::input_gradient", m_largest.rows() * std::max(network.units, network.embedding));
  }
}

template <class T>
double LstmLanguageModel<T>::step_flops() const {
  double products = static_cast<double>(m_network.units * m_vocabulary);
  for (const auto& layer : m_layers) products += static_cast<double>(4 * layer.units() * (layer.in() + layer.units()));
  return 3 * 2 * products;
}

template <class T>
void LstmLanguageModel<T>::initialise(std::uint64_t seed, const HostSpan<T>& parameters,
                                      const HostSpan<T>& buffers) const {
  require(index_t(parameters.extent(0)) == m_layout.count() && index_t(buffers.extent(0)) == buffer_count(),
          "{}: has {} parameters and {} buffer elements, not {} and {}", m_name, m_layout.count(), buffer_count(),
          parameters.extent(0), buffers.extent(0));
  const double of_layers = 1 / std::sqrt(static_cast<double>(m_network.units));
  for (const Segment& segment : m_layout.segments) {
    const double range = segment.name.starts_with("lstm.") ? of_layers : segment.name == "decoder.bias" ? 0 : 0.1;
    for (index_t i = 0; i < segment.count; ++i) {
      parameters(segment.offset + i) = static_cast<T>(range * (2 * uniform(seed, segment.id, i) - 1));
    }
  }
  Kokkos::deep_copy(buffers, T(0));
}

template <class T>
Matrix<T> LstmLanguageModel<T>::rows(const Vector<T>& of, index_t columns) const {
  return Matrix<T>::dense(of.data(), m_shape.rows(), columns);
}

template <class T>
Dropout LstmLanguageModel<T>::dropout(std::size_t layer) const {
  return {m_network.dropout, m_key, static_cast<index_t>(layer), m_shape.sequences, m_shape.steps};
}

/// What enters layer `layer`, or the decoder behind the last one.
template <class T>
Matrix<const T> LstmLanguageModel<T>::input_of(std::size_t layer) const {
  if (layer == 0) return rows(m_inputs[0], m_network.embedding);
  if (m_dropping) return rows(m_inputs[layer], m_network.units);
  return m_layers[layer - 1].output(m_shape);
}

template <class T>
Span<const T> LstmLanguageModel<T>::decoder_weight(const Span<const T>& parameters) const {
  const Segment& segment = m_layout.segments[m_network.tied ? 0 : m_decoder_segment];
  return subspan(parameters, segment.offset, segment.count);
}

template <class T>
void LstmLanguageModel<T>::run(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers,
                               const Batch<T>& batch, bool training) {
  m_shape = shape_of(m_name, batch, m_largest);
  m_dropping = training && m_network.dropout > 0;
  m_key = batch.key;
  if (batch.restart) Kokkos::deep_copy(exec, buffers, T(0));

  order_by_step(exec, batch.tokens, m_shape.sequences, m_shape.steps, m_tokens);
  this->need(0);
  const Matrix<T> embedded = rows(m_inputs[0], m_network.embedding);
  gather_rows<T>(exec, Matrix<const T>::dense(parameters.data(), m_vocabulary, m_network.embedding), m_tokens,
                 embedded);
  if (m_dropping) apply_dropout<T>(exec, dropout(0), embedded, embedded);
  const index_t count = m_largest.sequences * m_network.units;
  for (std::size_t l = 0; l < m_layers.size(); ++l) {
    const auto place = static_cast<index_t>(2 * l) * count;
    this->need(m_layers[l].segment());
    m_layers[l].forward(exec, m_shape, input_of(l), parameters, subspan(buffers, place, count),
                        subspan(buffers, place + count, count), m_workspace, m_path);
    if (m_dropping) {
      apply_dropout<T>(exec, dropout(l + 1), m_layers[l].output(m_shape), rows(m_inputs[l + 1], m_network.units));
    }
  }
  this->need(m_decoder_segment);
  const Segment& bias = m_layout.segments.back();
  m_decoder.forward(exec, input_of(m_layers.size()), decoder_weight(parameters),
                    subspan(parameters, bias.offset, bias.count), batch, m_shape.sequences, training, m_workspace.gemm,
                    m_path);
}

template <class T>
void LstmLanguageModel<T>::forward(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers,
                                   const Batch<T>& batch) {
  run(exec, parameters, buffers, batch, true);
}

template <class T>
void LstmLanguageModel<T>::infer(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers,
                                 const Batch<T>& batch) {
  run(exec, parameters, buffers, batch, false);
}

template <class T>
void LstmLanguageModel<T>::backward(const Exec& exec, const Span<const T>& parameters, const Span<T>& gradient,
                                    const Ready& ready) {
  const Segment &table = m_layout.segments[0], &bias = m_layout.segments.back();
  const Segment& weight = m_network.tied ? table : m_layout.segments[m_decoder_segment];
  std::size_t turn = 0;
  Matrix<T> dy = rows(m_gradients[turn], m_network.units);
  m_decoder.backward(exec, input_of(m_layers.size()), decoder_weight(parameters),
                     subspan(gradient, weight.offset, weight.count), subspan(gradient, bias.offset, bias.count), ready,
                     m_decoder_segment, dy, m_workspace.gemm, m_path);
  for (std::size_t l = m_layers.size(); l-- > 0;) {
    if (m_dropping) apply_dropout<T>(exec, dropout(l + 1), dy, dy);
    turn = 1 - turn;
    const Matrix<T> dx = rows(m_gradients[turn], m_layers[l].in());
    m_layers[l].backward(exec, m_shape, input_of(l), dy, parameters, gradient, dx, m_workspace, m_path);
    if (ready) ready(m_layers[l].segment());
    dy = dx;
  }
  if (m_dropping) apply_dropout<T>(exec, dropout(0), dy, dy);
  const Span<T> table_gradient = subspan(gradient, table.offset, table.count);
  if (!m_network.tied) Kokkos::deep_copy(exec, table_gradient, T(0));
  add_rows<T>(exec, dy, m_tokens, Matrix<T>::dense(table_gradient.data(), m_vocabulary, m_network.embedding), m_path);
  if (ready) ready(0);
}

template class LstmLanguageModel<float>;
template class LstmLanguageModel<double>;

}  // namespace gradcomp::nn
