#include "gradcomp/nn/networks/lstm_language_model.hpp"

#include <algorithm>
#include <cmath>

#include "gradcomp/core/error.hpp"
#include "gradcomp/nn/layers/embedding.hpp"
#include "gradcomp/nn/networks/initialise.hpp"
#include "gradcomp/nn/networks/texts.hpp"

namespace gradcomp::nn {
namespace {

SequenceSetup checked(const LstmNetwork& network, int vocabulary, int length, int max_batch, Path path) {
  require(network.layers > 0 && network.units > 0 && network.embedding > 0,
          "{}: needs at least one layer, one unit and an embedding of one element; not {}, {} and {}", network.name,
          network.layers, network.units, network.embedding);
  require(!network.tied || network.units == network.embedding,
          "{}: a decoder tied to the embedding needs as many units as the embedding has elements; they are {} and {}",
          network.name, network.units, network.embedding);
  require_dropout(network.name, network.dropout);
  require_texts(network.name, vocabulary, length, max_batch);
  const SequenceShape largest{length, max_batch};
  return {network.name, largest, network.units, vocabulary, network.tied, largest.rows(), network.dropout, path};
}

/// The hidden state that the batch before left. What is not finite starts at 0 again; otherwise it would stay for good.
template <class T>
void start_from(const Exec& exec, const Span<T>& state, bool restart) {
  Kokkos::parallel_for(
      "gradcomp::nn::start_from", IndexRange(exec, 0, static_cast<index_t>(state.extent(0))),
      KOKKOS_LAMBDA(const index_t i) {
        if (restart || !Kokkos::isfinite(state(i))) state(i) = T(0);
      });
}

}  // namespace

template <class T>
LstmLanguageModel<T>::LstmLanguageModel(const LstmNetwork& network, int vocabulary, int length, int max_batch,
                                        Path path)
    : Base(checked(network, vocabulary, length, max_batch, path)),
      m_network(network),
      m_workspace(m_largest, network.units),
      m_tokens("gradcomp::nn::tokens", m_largest.rows()) {
  m_layout.add("embedding.weight", {vocabulary, network.embedding}, true);
  m_layers.reserve(static_cast<std::size_t>(network.layers));
  for (int layer = 0; layer < network.layers; ++layer) {
    const index_t in = layer == 0 ? network.embedding : network.units;
    m_layers.emplace_back(m_layout, fmt::format("lstm.layer{}.", layer + 1), in, network.units, m_largest);
  }
  add_decoder("decoder.");
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
  double products = static_cast<double>(m_network.units * this->classes());
  for (const auto& layer : m_layers) products += static_cast<double>(4 * layer.units() * (layer.in() + layer.units()));
  return 3 * 2 * products;
}

template <class T>
void LstmLanguageModel<T>::initialise(std::uint64_t seed, const HostSpan<T>& parameters,
                                      const HostSpan<T>& buffers) const {
  require(index_t(parameters.extent(0)) == m_layout.count() && index_t(buffers.extent(0)) == buffer_count(),
          "{}: has {} parameters and {} buffer elements, not {} and {}", this->name(), m_layout.count(), buffer_count(),
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

/// The input of layer `layer`, or of the decoder behind the last layer.
template <class T>
Matrix<const T> LstmLanguageModel<T>::input_of(std::size_t layer) const {
  if (layer == 0) return rows(m_inputs[0], m_network.embedding);
  if (drops()) return rows(m_inputs[layer], m_network.units);
  return m_layers[layer - 1].output(m_shape);
}

template <class T>
void LstmLanguageModel<T>::run(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers,
                               const Batch<T>& batch, bool training) {
  begin(shape_of(this->name(), batch, m_largest), batch, training);
  start_from(exec, buffers, batch.restart);

  order_by_step(exec, batch.tokens, m_shape.sequences, m_shape.steps, m_tokens);
  this->need(0);
  const Matrix<T> embedded = rows(m_inputs[0], m_network.embedding);
  gather_rows<T>(exec, Matrix<const T>::dense(parameters.data(), this->classes(), m_network.embedding), m_tokens,
                 embedded);
  if (drops()) apply_dropout<T>(exec, dropout(0), embedded, embedded);
  const index_t count = m_largest.sequences * m_network.units;
  for (std::size_t l = 0; l < m_layers.size(); ++l) {
    const auto place = static_cast<index_t>(2 * l) * count;
    this->need(m_layers[l].segment());
    m_layers[l].forward(exec, m_shape, input_of(l), parameters, subspan(buffers, place, count),
                        subspan(buffers, place + count, count), m_workspace, m_path);
    if (drops()) {
      apply_dropout<T>(exec, dropout(l + 1), m_layers[l].output(m_shape), rows(m_inputs[l + 1], m_network.units));
    }
  }
  decode(exec, input_of(m_layers.size()), parameters, batch, training, m_workspace.gemm);
}

template <class T>
void LstmLanguageModel<T>::backward(const Exec& exec, const Span<const T>& parameters, const Span<T>& gradient,
                                    const Ready& ready) {
  std::size_t turn = 0;
  Matrix<T> dy = rows(m_gradients[turn], m_network.units);
  decode_backward(exec, input_of(m_layers.size()), parameters, gradient, ready, dy, m_workspace.gemm);
  for (std::size_t l = m_layers.size(); l-- > 0;) {
    if (drops()) apply_dropout<T>(exec, dropout(l + 1), dy, dy);
    turn = 1 - turn;
    const Matrix<T> dx = rows(m_gradients[turn], m_layers[l].in());
    m_layers[l].backward(exec, m_shape, input_of(l), dy, parameters, gradient, dx, m_workspace, m_path);
    if (ready) ready(m_layers[l].segment());
    dy = dx;
  }
  if (drops()) apply_dropout<T>(exec, dropout(0), dy, dy);
  const Segment& table = m_layout.segments[0];
  const Span<T> table_gradient = subspan(gradient, table.offset, table.count);
  if (!m_network.tied) Kokkos::deep_copy(exec, table_gradient, T(0));
  add_rows<T>(exec, dy, m_tokens, Matrix<T>::dense(table_gradient.data(), this->classes(), m_network.embedding),
              m_path);
  if (ready) ready(0);
}

template class LstmLanguageModel<float>;
template class LstmLanguageModel<double>;

}  // namespace gradcomp::nn
