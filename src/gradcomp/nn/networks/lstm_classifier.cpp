#include "gradcomp/nn/networks/lstm_classifier.hpp"

#include <fmt/ranges.h>

#include <cmath>

#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/nn/networks/initialise.hpp"
#include "gradcomp/nn/networks/texts.hpp"

namespace gradcomp::nn {
namespace {

using kernels::each_element;
using kernels::Warp;

/// Frames [sequences][steps][features] -> [steps][sequences][features].
template <class T>
void order_frames(const Exec& exec, const SequenceShape& shape, index_t features, const Span<const T>& frames,
                  const Span<T>& to) {
  kernels::for_warps(
      "gradcomp::nn::order_frames", exec, shape.rows(), KOKKOS_LAMBDA(const Warp& warp, const index_t row) {
        const T* from = frames.data() + (row % shape.sequences * shape.steps + row / shape.sequences) * features;
        T* result = to.data() + row * features;
        each_element(warp, features, [&](int, index_t j) { result[j] = from[j]; });
      });
}

/// mean[sequence] = mean of its rows of x, summed in order.
template <class T>
void mean_over_steps(const Exec& exec, const SequenceShape& shape, const Matrix<const T>& x, const Matrix<T>& mean) {
  kernels::for_warps(
      "gradcomp::nn::mean_over_steps", exec, shape.sequences, KOKKOS_LAMBDA(const Warp& warp, const index_t sequence) {
        T* to = &mean(sequence, 0);
        each_element(warp, x.columns, [&](int, index_t j) { to[j] = T(0); });
        for (index_t row = sequence; row < shape.rows(); row += shape.sequences) {
          const T* from = &x(row, 0);
          each_element(warp, x.columns, [&](int, index_t j) { to[j] += from[j]; });
        }
        const T factor = T(1) / static_cast<T>(shape.steps);
        each_element(warp, x.columns, [&](int, index_t j) { to[j] *= factor; });
      });
}

/// Backward pass of mean_over_steps(): every row of a sequence gets the same gradient.
template <class T>
void spread_over_steps(const Exec& exec, const SequenceShape& shape, const Matrix<const T>& mean_gradient,
                       const Matrix<T>& dx) {
  const T factor = T(1) / static_cast<T>(shape.steps);
  kernels::for_warps(
      "gradcomp::nn::spread_over_steps", exec, shape.rows(), KOKKOS_LAMBDA(const Warp& warp, const index_t row) {
        const T* from = &mean_gradient(row % shape.sequences, 0);
        T* to = &dx(row, 0);
        each_element(warp, dx.columns, [&](int, index_t j) { to[j] = factor * from[j]; });
      });
}

SequenceSetup checked(const FrameNetwork& network, int features, int length, int max_batch, int classes, Path path) {
  require(network.layers > 0 && network.units > 0, "{}: needs at least one layer and unit, not {} and {}", network.name,
          network.layers, network.units);
  require_dropout(network.name, network.dropout);
  require(features > 0 && length > 0 && max_batch > 0 && classes > 1,
          "{}: needs at least 2 classes, 1 sequence, 1 frame and 1 feature, not {}, {}, {} and {}", network.name,
          classes, max_batch, length, features);
  return {network.name, {length, max_batch}, network.units, classes, false, max_batch, network.dropout, path};
}

}  // namespace

template <class T>
LstmClassifier<T>::LstmClassifier(const FrameNetwork& network, int features, int length, int max_batch, int classes,
                                  Path path)
    : Base(checked(network, features, length, max_batch, classes, path)),
      m_network(network),
      m_features(features),
      m_workspace(m_largest, network.units),
      m_frames("gradcomp::nn::frames", m_largest.rows() * features),
      m_h("gradcomp::nn::hidden", max_batch * network.units),
      m_c("gradcomp::nn::cell", max_batch * network.units),
      m_mean("gradcomp::nn::mean", max_batch * network.units),
      m_mean_gradient("gradcomp::nn::mean_gradient", max_batch * network.units) {
  const index_t count = m_largest.rows() * network.units;
  for (int layer = 0; layer < network.layers; ++layer) {
    const index_t in = layer == 0 ? m_features : network.units;
    m_layers.emplace_back(m_layout, fmt::format("lstm.layer{}.", layer + 1), in, network.units, m_largest);
    if (network.dropout > 0) m_dropped.emplace_back("gradcomp::nn::dropped", count);
  }
  add_decoder("linear.");
  for (Vector<T>& gradient : m_gradients) gradient = Vector<T>("gradcomp::nn::output_gradient", count);
}

template <class T>
double LstmClassifier<T>::step_flops() const {
  index_t products = 0;
  for (const auto& layer : m_layers) {
    const int parts = &layer == &m_layers.front() ? 2 : 3;  // the gradient of the frames is not needed
    products += m_largest.steps * 4 * layer.units() * (parts * layer.in() + 3 * layer.units());
  }
  return 2 * static_cast<double>(products + 3 * m_network.units * this->classes());
}

template <class T>
void LstmClassifier<T>::initialise(std::uint64_t seed, const HostSpan<T>& parameters,
                                   const HostSpan<T>& buffers) const {
  require(index_t(parameters.extent(0)) == m_layout.count() && buffers.extent(0) == 0,
          "{}: has {} parameters and no buffers, not {} and {}", this->name(), m_layout.count(), parameters.extent(0),
          buffers.extent(0));
  const double range = 1 / std::sqrt(static_cast<double>(m_network.units));
  for (const Segment& segment : m_layout.segments) {
    for (index_t i = 0; i < segment.count; ++i) {
      parameters(segment.offset + i) = static_cast<T>(range * (2 * uniform(seed, segment.id, i) - 1));
    }
  }
}

template <class T>
Matrix<T> LstmClassifier<T>::matrix(const Vector<T>& of, index_t rows, index_t columns) const {
  return Matrix<T>::dense(of.data(), rows, columns);
}

template <class T>
Matrix<const T> LstmClassifier<T>::output_of(std::size_t layer) const {
  if (drops()) return matrix(m_dropped[layer], m_shape.rows(), m_network.units);
  return m_layers[layer].output(m_shape);
}

template <class T>
void LstmClassifier<T>::run(const Exec& exec, const Span<const T>& parameters, const Span<T>&, const Batch<T>& batch,
                            bool training) {
  const index_t size = batch.size(), units = m_network.units;
  require(size >= 1 && size <= m_largest.sequences, "{}: a batch of {} sequences; 1 to {} are allowed", this->name(),
          size, m_largest.sequences);
  require(index_t(batch.features.extent(0)) == size * image_size(),
          "{}: a batch with {} elements of frames and {} labels; each sequence has {} elements and one label",
          this->name(), batch.features.extent(0), size, image_size());
  require_weights(this->name(), batch, size);
  begin({m_largest.steps, size}, batch, training);
  order_frames<T>(exec, m_shape, m_features, batch.features, m_frames);
  Matrix<const T> x = matrix(m_frames, m_shape.rows(), m_features);
  for (std::size_t l = 0; l < m_layers.size(); ++l) {
    Kokkos::deep_copy(exec, m_h, T(0));
    Kokkos::deep_copy(exec, m_c, T(0));
    this->need(m_layers[l].segment());
    m_layers[l].forward(exec, m_shape, x, parameters, m_h, m_c, m_workspace, m_path);
    if (drops()) {
      apply_dropout<T>(exec, dropout(l), m_layers[l].output(m_shape), matrix(m_dropped[l], m_shape.rows(), units));
    }
    x = output_of(l);
  }
  const Matrix<T> mean = matrix(m_mean, size, units);
  mean_over_steps<T>(exec, m_shape, x, mean);
  decode(exec, mean, parameters, batch, training, m_workspace.gemm);
}

template <class T>
void LstmClassifier<T>::backward(const Exec& exec, const Span<const T>& parameters, const Span<T>& gradient,
                                 const Ready& ready) {
  const index_t units = m_network.units, rows = m_shape.rows();
  const Matrix<T> mean_gradient = matrix(m_mean_gradient, m_shape.sequences, units);
  decode_backward(exec, matrix(m_mean, m_shape.sequences, units), parameters, gradient, ready, mean_gradient,
                  m_workspace.gemm);
  std::size_t turn = 0;
  spread_over_steps<T>(exec, m_shape, mean_gradient, matrix(m_gradients[turn], rows, units));
  for (std::size_t l = m_layers.size(); l-- > 0; turn = 1 - turn) {
    const Matrix<T> dy = matrix(m_gradients[turn], rows, units);
    if (drops()) apply_dropout<T>(exec, dropout(l), dy, dy);
    const Matrix<const T> x = l == 0 ? Matrix<const T>(matrix(m_frames, rows, m_features)) : output_of(l - 1);
    const Matrix<T> dx = l == 0 ? Matrix<T>() : matrix(m_gradients[1 - turn], rows, units);
    m_layers[l].backward(exec, m_shape, x, dy, parameters, gradient, dx, m_workspace, m_path);
    if (ready) ready(m_layers[l].segment());
  }
}

template class LstmClassifier<float>;
template class LstmClassifier<double>;

}  // namespace gradcomp::nn
