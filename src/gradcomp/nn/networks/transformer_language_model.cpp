#include "gradcomp/nn/networks/transformer_language_model.hpp"

#include <cmath>

#include "gradcomp/core/error.hpp"
#include "gradcomp/nn/layers/embedding.hpp"
#include "gradcomp/nn/networks/initialise.hpp"
#include "gradcomp/nn/networks/texts.hpp"

namespace gradcomp::nn {
namespace {

void check(const TransformerNetwork& network, int vocabulary, int length, int max_batch) {
  require(network.blocks > 0 && network.heads > 0 && network.units > 0 && network.units % network.heads == 0,
          "{}: needs at least one block, and units that its heads share evenly, not {}, {} and {}", network.name,
          network.blocks, network.units, network.heads);
  require_dropout(network.name, network.dropout);
  require_texts(network.name, vocabulary, length, max_batch);
}

}  // namespace

template <class T>
TransformerLanguageModel<T>::TransformerLanguageModel(const TransformerNetwork& network, int vocabulary, int length,
                                                      int max_batch, Path path)
    : m_network((check(network, vocabulary, length, max_batch), network)),
      m_name(network.name),
      m_vocabulary(vocabulary),
      m_largest{{length, max_batch}, network.heads, network.units / network.heads},
      m_shape(m_largest),
      m_path(path),
      m_decoder(network.units, vocabulary, network.tied, m_largest.batch.rows()),
      m_workspace(m_largest),
      m_tokens("gradcomp::nn::tokens", m_largest.batch.rows()),
      m_gradient("gradcomp::nn::row_gradient", m_largest.batch.rows() * network.units) {
  m_layout.add("embedding.weight", {vocabulary, network.units}, true);
  m_layout.add("position.weight", {length, network.units}, true);
  for (int block = 0; block < network.blocks; ++block) {
    m_blocks.emplace_back(m_layout, fmt::format("block{}.", block + 1), m_largest);
  }
  m_norm_segment = m_layout.segments.size();
  m_norm.emplace_back(m_layout, "norm.", network.units, m_largest.batch.rows());
  m_decoder_segment = m_layout.segments.size();
  if (!network.tied) m_layout.add("decoder.weight", {network.units, vocabulary});
  m_layout.add("decoder.bias", {vocabulary});
  for (int i = 0; i <= network.blocks; ++i) {
    m_activations.emplace_back("gradcomp::nn::activations", m_largest.batch.rows() * network.units);
  }
}

template <class T>
double TransformerLanguageModel<T>::step_flops() const {
  index_t products = m_network.units * m_vocabulary;
  for (const auto& block : m_blocks) products += block.products();
  return 3 * 2 * static_cast<double>(products);
}

template <class T>
void TransformerLanguageModel<T>::initialise(std::uint64_t seed, const HostSpan<T>& parameters,
                                             const HostSpan<T>& buffers) const {
  require(index_t(parameters.extent(0)) == m_layout.count() && buffers.extent(0) == 0,
          "{}: has {} parameters and no buffers, not {} and {}", m_name, m_layout.count(), parameters.extent(0),
          buffers.extent(0));
  for (const Segment& segment : m_layout.segments) {
    const bool ends_part = segment.name.ends_with(".output.weight");
    const double deviation = 0.02 / (ends_part ? std::sqrt(2.0 * m_network.blocks) : 1.0);
    const T constant = segment.name.ends_with(".weight") ? T(1) : T(0);  // a vector called weight scales
    for (index_t i = 0; i < segment.count; ++i) {
      parameters(segment.offset + i) =
          segment.is_matrix() ? static_cast<T>(deviation * normal(seed, segment.id, i)) : constant;
    }
  }
}

template <class T>
Matrix<T> TransformerLanguageModel<T>::rows(const Vector<T>& of) const {
  return Matrix<T>::dense(of.data(), m_shape.batch.rows(), m_network.units);
}

template <class T>
Dropout TransformerLanguageModel<T>::dropout(std::size_t layer) const {
  return {m_rate, m_key, static_cast<index_t>(layer), m_shape.batch.sequences, m_shape.batch.steps};
}

template <class T>
void TransformerLanguageModel<T>::run(const Exec& exec, const Span<const T>& parameters, const Batch<T>& batch,
                                      bool training) {
  m_shape.batch = shape_of(m_name, batch, m_largest.batch);
  const index_t length = m_shape.batch.steps;
  m_rate = training ? m_network.dropout : 0;
  m_key = batch.key;

  order_by_step(exec, batch.tokens, m_shape.batch.sequences, length, m_tokens);
  this->need(0);
  const Matrix<T> embedded = rows(m_activations[0]);
  gather_rows<T>(exec, Matrix<const T>::dense(parameters.data(), m_vocabulary, m_network.units), m_tokens, embedded);
  const Segment& position = m_layout.segments[1];
  add_positions<T>(exec, Matrix<const T>::dense(parameters.data() + position.offset, length, m_network.units),
                   embedded);
  if (m_rate > 0) apply_dropout<T>(exec, dropout(0), embedded, embedded);
  for (std::size_t b = 0; b < m_blocks.size(); ++b) {
    this->need(m_blocks[b].segment());
    m_blocks[b].forward(exec, m_shape, rows(m_activations[b]), parameters, dropout(1 + 2 * b),
                        rows(m_activations[b + 1]), m_workspace, m_path);
  }
  this->need(m_norm_segment);
  m_norm[0].forward(exec, rows(m_activations.back()), parameters);
  this->need(m_decoder_segment);
  const Segment &weight = m_layout.segments[m_network.tied ? 0 : m_decoder_segment], &bias = m_layout.segments.back();
  m_decoder.forward(exec, m_norm[0].output(m_shape.batch.rows()), subspan(parameters, weight.offset, weight.count),
                    subspan(parameters, bias.offset, bias.count), batch, m_shape.batch.sequences, training,
                    m_workspace.gemm, m_path);
}

template <class T>
void TransformerLanguageModel<T>::forward(const Exec& exec, const Span<const T>& parameters, const Span<T>&,
                                          const Batch<T>& batch) {
  run(exec, parameters, batch, true);
}

template <class T>
void TransformerLanguageModel<T>::infer(const Exec& exec, const Span<const T>& parameters, const Span<T>&,
                                        const Batch<T>& batch) {
  run(exec, parameters, batch, false);
}

template <class T>
void TransformerLanguageModel<T>::backward(const Exec& exec, const Span<const T>& parameters, const Span<T>& gradient,
                                           const Ready& ready) {
  const Segment &table = m_layout.segments[0], &position = m_layout.segments[1], &bias = m_layout.segments.back();
  const Segment& weight = m_network.tied ? table : m_layout.segments[m_decoder_segment];
  const Matrix<T> dx = rows(m_gradient), first = rows(m_workspace.rows[0]), second = rows(m_workspace.rows[1]);
  m_decoder.backward(exec, m_norm[0].output(dx.rows), subspan(parameters, weight.offset, weight.count),
                     subspan(gradient, weight.offset, weight.count), subspan(gradient, bias.offset, bias.count), ready,
                     m_decoder_segment, first, m_workspace.gemm, m_path);
  m_norm[0].backward(exec, rows(m_activations.back()), first, parameters, gradient, false, dx, second,
                     m_workspace.partials);
  if (ready) ready(m_norm_segment);
  for (std::size_t b = m_blocks.size(); b-- > 0;) {
    m_blocks[b].backward(exec, m_shape, rows(m_activations[b]), parameters, gradient, dropout(1 + 2 * b), dx,
                         m_workspace, m_path);
    if (ready) ready(m_blocks[b].segment());
  }
  if (m_rate > 0) apply_dropout<T>(exec, dropout(0), dx, dx);
  const index_t length = m_shape.batch.steps;
  sum_positions<T>(exec, dx, Matrix<T>::dense(gradient.data() + position.offset, length, m_network.units));
  const Span<T> table_gradient = subspan(gradient, table.offset, table.count);
  if (!m_network.tied) Kokkos::deep_copy(exec, table_gradient, T(0));
  add_rows<T>(exec, dx, m_tokens, Matrix<T>::dense(table_gradient.data(), m_vocabulary, m_network.units), m_path);
  if (ready) ready(0);
}

template class TransformerLanguageModel<float>;
template class TransformerLanguageModel<double>;

}  // namespace gradcomp::nn
