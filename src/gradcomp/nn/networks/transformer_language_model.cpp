#include "gradcomp/nn/networks/transformer_language_model.hpp"

#include <cmath>

#include "gradcomp/core/error.hpp"
#include "gradcomp/nn/layers/embedding.hpp"
#include "gradcomp/nn/networks/initialise.hpp"
#include "gradcomp/nn/networks/texts.hpp"

namespace gradcomp::nn {
namespace {

SequenceSetup checked(const TransformerNetwork& network, int vocabulary, int length, int max_batch, Path path) {
  require(network.blocks > 0 && network.heads > 0 && network.units > 0 && network.units % network.heads == 0,
          "{}: needs at least one block, and units that are a multiple of its heads; not {}, {} and {}", network.name,
          network.blocks, network.units, network.heads);
  require_dropout(network.name, network.dropout);
  require_texts(network.name, vocabulary, length, max_batch);
  const SequenceShape largest{length, max_batch};
  return {network.name, largest, network.units, vocabulary, network.tied, largest.rows(), network.dropout, path};
}

}  // namespace

template <class T>
TransformerLanguageModel<T>::TransformerLanguageModel(const TransformerNetwork& network, int vocabulary, int length,
                                                      int max_batch, Path path)
    : Base(checked(network, vocabulary, length, max_batch, path)),
      m_network(network),
      m_workspace(attention(m_largest)),
      m_tokens("gradcomp::nn::tokens", m_largest.rows()),
      m_gradient("gradcomp::nn::row_gradient", m_largest.rows() * network.units) {
  m_layout.add("embedding.weight", {vocabulary, network.units}, true);
  m_layout.add("position.weight", {length, network.units}, true);
  for (int block = 0; block < network.blocks; ++block) {
    m_blocks.emplace_back(m_layout, fmt::format("block{}.", block + 1), attention(m_largest));
  }
  m_norm_segment = m_layout.segments.size();
  m_norm.emplace_back(m_layout, "norm.", network.units, m_largest.rows());
  add_decoder("decoder.");
  for (int i = 0; i <= network.blocks; ++i) {
    m_activations.emplace_back("gradcomp::nn::activations", m_largest.rows() * network.units);
  }
}

template <class T>
double TransformerLanguageModel<T>::step_flops() const {
  index_t products = m_network.units * this->classes();
  for (const auto& block : m_blocks) products += block.products();
  return 3 * 2 * static_cast<double>(products);
}

template <class T>
void TransformerLanguageModel<T>::initialise(std::uint64_t seed, const HostSpan<T>& parameters,
                                             const HostSpan<T>& buffers) const {
  require(index_t(parameters.extent(0)) == m_layout.count() && buffers.extent(0) == 0,
          "{}: has {} parameters and no buffers, not {} and {}", this->name(), m_layout.count(), parameters.extent(0),
          buffers.extent(0));
  for (const Segment& segment : m_layout.segments) {
    const bool ends_part = segment.name.ends_with(".output.weight");
    const double deviation = 0.02 / (ends_part ? std::sqrt(2.0 * m_network.blocks) : 1.0);
    const T constant = segment.name.ends_with(".weight") ? T(1) : T(0);  // a vector called weight holds scales
    for (index_t i = 0; i < segment.count; ++i) {
      parameters(segment.offset + i) =
          segment.is_matrix() ? static_cast<T>(deviation * normal(seed, segment.id, i)) : constant;
    }
  }
}

template <class T>
Matrix<T> TransformerLanguageModel<T>::rows(const Vector<T>& of) const {
  return Matrix<T>::dense(of.data(), m_shape.rows(), m_network.units);
}

template <class T>
AttentionShape TransformerLanguageModel<T>::attention(const SequenceShape& batch) const {
  return {batch, m_network.heads, m_network.units / m_network.heads};
}

template <class T>
void TransformerLanguageModel<T>::run(const Exec& exec, const Span<const T>& parameters, const Span<T>&,
                                      const Batch<T>& batch, bool training) {
  begin(shape_of(this->name(), batch, m_largest), batch, training);
  const index_t length = m_shape.steps;

  order_by_step(exec, batch.tokens, m_shape.sequences, length, m_tokens);
  this->need(0);
  const Matrix<T> embedded = rows(m_activations[0]);
  gather_rows<T>(exec, Matrix<const T>::dense(parameters.data(), this->classes(), m_network.units), m_tokens, embedded);
  const Segment& position = m_layout.segments[1];
  add_positions<T>(exec, Matrix<const T>::dense(parameters.data() + position.offset, length, m_network.units),
                   embedded);
  if (drops()) apply_dropout<T>(exec, dropout(0), embedded, embedded);
  for (std::size_t b = 0; b < m_blocks.size(); ++b) {
    this->need(m_blocks[b].segment());
    m_blocks[b].forward(exec, attention(m_shape), rows(m_activations[b]), parameters, dropout(1 + 2 * b),
                        rows(m_activations[b + 1]), m_workspace, m_path);
  }
  this->need(m_norm_segment);
  m_norm[0].forward(exec, rows(m_activations.back()), parameters);
  decode(exec, m_norm[0].output(m_shape.rows()), parameters, batch, training, m_workspace.gemm);
}

template <class T>
void TransformerLanguageModel<T>::backward(const Exec& exec, const Span<const T>& parameters, const Span<T>& gradient,
                                           const Ready& ready) {
  const Segment &table = m_layout.segments[0], &position = m_layout.segments[1];
  const Matrix<T> dx = rows(m_gradient), first = rows(m_workspace.rows[0]), second = rows(m_workspace.rows[1]);
  decode_backward(exec, m_norm[0].output(dx.rows), parameters, gradient, ready, first, m_workspace.gemm);
  m_norm[0].backward(exec, rows(m_activations.back()), first, parameters, gradient, false, dx, second,
                     m_workspace.partials);
  if (ready) ready(m_norm_segment);
  for (std::size_t b = m_blocks.size(); b-- > 0;) {
    m_blocks[b].backward(exec, attention(m_shape), rows(m_activations[b]), parameters, gradient, dropout(1 + 2 * b), dx,
                         m_workspace, m_path);
    if (ready) ready(m_blocks[b].segment());
  }
  if (drops()) apply_dropout<T>(exec, dropout(0), dx, dx);
  const index_t length = m_shape.steps;
  sum_positions<T>(exec, dx, Matrix<T>::dense(gradient.data() + position.offset, length, m_network.units));
  const Span<T> table_gradient = subspan(gradient, table.offset, table.count);
  if (!m_network.tied) Kokkos::deep_copy(exec, table_gradient, T(0));
  add_rows<T>(exec, dx, m_tokens, Matrix<T>::dense(table_gradient.data(), this->classes(), m_network.units), m_path);
  if (ready) ready(0);
}

template class TransformerLanguageModel<float>;
template class TransformerLanguageModel<double>;

}  // namespace gradcomp::nn
