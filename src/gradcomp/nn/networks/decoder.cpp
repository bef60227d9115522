#include "gradcomp/nn/networks/decoder.hpp"

#include <fmt/format.h>

#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/nn/exponential.hpp"
#include "gradcomp/nn/gemm/column_sums.hpp"

namespace gradcomp::nn {

template <class T>
void token_cross_entropy(const Exec& exec, const Matrix<T>& logits, const Span<const std::int32_t>& labels,
                         const Span<const std::int32_t>& tokens, const Span<const float>& weights, index_t sequences,
                         bool with_gradient, const Span<double>& losses, const Span<Hit>& hits) {
  const index_t classes = logits.columns, rows = logits.rows, steps = rows / sequences;
  const bool has_tokens = tokens.extent(0) > 0, weighted = weights.extent(0) > 0;
  kernels::for_warps(
      "gradcomp::nn::token_cross_entropy", exec, rows, KOKKOS_LAMBDA(const kernels::Warp& warp, const index_t row) {
        const index_t place = row % sequences * steps + row / sequences;
        const std::int32_t label = labels(place), token = has_tokens ? tokens(place) : 0;
        const bool valid = label >= 0 && label < classes && token >= 0 && token < classes;
        T* x = &logits(row, 0);
        kernels::Lanes<T> most;
        warp.each([&](int l) { most[l] = x[0]; });
        kernels::each_element(warp, classes, [&](int l, index_t j) { most[l] = x[j] > most[l] ? x[j] : most[l]; });
        const T largest = warp.max(most);
        const T target = valid ? x[label] : T(0);
        kernels::Lanes<std::uint32_t> before;  // classes before the label with the same logit
        warp.each([&](int l) { before[l] = 0; });
        if (valid && target == largest) {
          kernels::each_element(warp, label, [&](int l, index_t j) { before[l] += x[j] == largest ? 1 : 0; });
        }
        const bool right = target == largest && warp.sum(before) == 0;
        kernels::Lanes<double> part;
        warp.each([&](int l) { part[l] = 0; });
        warp.sync();  // all lanes have read the label's logit
        kernels::each_element(warp, classes, [&](int l, index_t j) {
          const T power = exponential(x[j] - largest);
          x[j] = power;
          part[l] += double(power);
        });
        const double sum = warp.sum(part);
        warp.once([&] {
          losses(place) = valid ? Kokkos::log(sum) + double(largest) - double(target) : 0.0;
          hits(place) = !valid ? Hit::bad_label : right ? Hit::right : Hit::wrong;
        });
        if (with_gradient) {
          const double weight = weighted ? double(weights(row % sequences)) : 1.0;
          const T scale = valid ? static_cast<T>(weight / (sum * double(rows))) : T(0);
          const T one = valid ? static_cast<T>(weight / double(rows)) : T(0);
          kernels::each_element(warp, classes,
                                [&](int, index_t j) { x[j] = x[j] * scale - (j == label ? one : T(0)); });
        }
      });
}

template <class T>
Decoder<T>::Decoder(index_t units, index_t vocabulary, bool tied, index_t max_tokens)
    : m_units(units),
      m_vocabulary(vocabulary),
      m_tied(tied),
      m_logits("gradcomp::nn::logits", max_tokens * vocabulary),
      m_partials("gradcomp::nn::bias_partials", column_sums_scratch(max_tokens, vocabulary)),
      m_losses(max_tokens) {}

template <class T>
template <class U>
Matrix<U> Decoder<T>::matrix(const Span<U>& weight) const {
  if (m_tied) return Matrix<U>::dense(weight.data(), m_vocabulary, m_units).transposed();
  return Matrix<U>::dense(weight.data(), m_units, m_vocabulary);
}

template <class T>
void Decoder<T>::forward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& weight,
                         const Span<const T>& bias, const Batch<T>& batch, index_t sequences, bool training,
                         const GemmWorkspace<T>& workspace, Path path) {
  m_tokens = x.rows;
  m_steps = x.rows / sequences;
  const auto logits = Matrix<T>::dense(m_logits.data(), m_tokens, m_vocabulary);
  gemm<T>(exec, x, matrix(weight), logits, workspace, path, {false, bias.data()});
  m_losses.begin(exec, sequences, m_steps, batch.weights);
  token_cross_entropy<T>(exec, logits, batch.labels, batch.tokens, m_losses.weights(), sequences, training,
                         m_losses.losses(), m_losses.hits());
}

template <class T>
void Decoder<T>::backward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& weight,
                          const Span<T>& weight_gradient, const Span<T>& bias_gradient, const Ready& ready,
                          std::size_t segment, const Matrix<T>& dx, const GemmWorkspace<T>& workspace, Path path) {
  const auto dy = Matrix<const T>::dense(m_logits.data(), m_tokens, m_vocabulary);
  column_sums<T>(exec, dy, m_partials, bias_gradient);
  if (m_tied) {  // computes the transposed gradient, because the rows of a product must be contiguous
    gemm<T>(exec, dy.transposed(), x, matrix(weight_gradient).transposed(), workspace, path);
  } else {
    gemm<T>(exec, x.transposed(), dy, matrix(weight_gradient), workspace, path);
  }
  if (ready) ready(segment);
  gemm<T>(exec, dy, matrix(weight).transposed(), dx, workspace, path);
}

template <class T>
Loss Decoder<T>::loss(const Exec& exec, const std::string& model) {
  return m_losses.loss(exec, [&](index_t token) {
    return fmt::format("{}: the token or the label at step {} of sequence {} of the batch is not one of {} classes",
                       model, token % m_steps, token / m_steps, m_vocabulary);
  });
}

#define GRADCOMP_INSTANTIATE(T)                                                                                  \
  template void token_cross_entropy<T>(const Exec&, const Matrix<T>&, const Span<const std::int32_t>&,           \
                                       const Span<const std::int32_t>&, const Span<const float>&, index_t, bool, \
                                       const Span<double>&, const Span<Hit>&);                                   \
  template class Decoder<T>;
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn
