#include "gradcomp/nn/attention/attention.hpp"

#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/nn/exponential.hpp"

namespace gradcomp::nn {
namespace {

using kernels::each_element;
using kernels::Lanes;
using kernels::Warp;

/// The matrices [steps][width] of all sequences and heads in `rows`, each of which has `parts` times the units. `part`:
/// 0, 1, 2 for q, k, v.
template <class T>
MatrixGrid<T> heads_of(const AttentionShape& shape, const Span<T>& rows, index_t parts, index_t part) {
  const index_t row = parts * shape.units();
  return {{rows.data() + part * shape.units(), shape.batch.steps, shape.width, shape.batch.sequences * row, 1},
          row,
          shape.width};
}

template <class T>
MatrixGrid<T> weights_of(const AttentionShape& shape, const Span<T>& weights) {
  const index_t steps = shape.batch.steps;
  return {Matrix<T>::dense(weights.data(), steps, steps), shape.heads * steps * steps, steps * steps};
}

/// Turns rows of q k^T into weights, in place. Step t has weights for steps 0 to t, and zeros for later steps.
template <class T>
void causal_softmax(const Exec& exec, const AttentionShape& shape, const Span<T>& weights) {
  const index_t steps = shape.batch.steps;
  const T scale = static_cast<T>(1 / Kokkos::sqrt(static_cast<double>(shape.width)));
  kernels::for_warps(
      "gradcomp::nn::causal_softmax", exec, shape.batch.sequences * shape.heads * steps,
      KOKKOS_LAMBDA(const Warp& warp, const index_t row) {
        const index_t seen = row % steps + 1;
        T* x = weights.data() + row * steps;
        Lanes<T> part;
        const T first = x[0];
        warp.each([&](int l) { part[l] = first; });
        each_element(warp, seen, [&](int l, index_t j) { part[l] = x[j] > part[l] ? x[j] : part[l]; });
        const T largest = warp.max(part);
        warp.each([&](int l) { part[l] = 0; });
        each_element(warp, steps, [&](int l, index_t j) {
          const T power = j < seen ? exponential(scale * (x[j] - largest)) : T(0);
          x[j] = power;
          part[l] += power;
        });
        const T factor = 1 / warp.sum(part);
        each_element(warp, steps, [&](int, index_t j) { x[j] *= factor; });
      });
}

/// Turns the gradients of the weights into those of q k^T, in place.
template <class T>
void softmax_backward(const Exec& exec, const AttentionShape& shape, const Span<const T>& weights,
                      const Span<T>& gradients) {
  const index_t steps = shape.batch.steps;
  const T scale = static_cast<T>(1 / Kokkos::sqrt(static_cast<double>(shape.width)));
  kernels::for_warps(
      "gradcomp::nn::softmax_backward", exec, shape.batch.sequences * shape.heads * steps,
      KOKKOS_LAMBDA(const Warp& warp, const index_t row) {
        const T* p = weights.data() + row * steps;
        T* d = gradients.data() + row * steps;
        Lanes<T> part;
        warp.each([&](int l) { part[l] = 0; });
        each_element(warp, steps, [&](int l, index_t j) { part[l] += p[j] * d[j]; });
        const T dot = warp.sum(part);
        each_element(warp, steps, [&](int, index_t j) { d[j] = scale * p[j] * (d[j] - dot); });
      });
}

}  // namespace

template <class T>
void attention_forward(const Exec& exec, const AttentionShape& shape, const Span<const T>& qkv, const Span<T>& weights,
                       const Span<T>& y, const GemmWorkspace<T>& workspace, Path path) {
  const index_t sequences = shape.batch.sequences, heads = shape.heads;
  const auto q = heads_of(shape, qkv, 3, 0), k = heads_of(shape, qkv, 3, 1), v = heads_of(shape, qkv, 3, 2);
  gemm_grid<T>(exec, sequences, heads, q, k.transposed(), weights_of(shape, weights), workspace, path);
  causal_softmax<T>(exec, shape, weights);
  gemm_grid<T>(exec, sequences, heads, weights_of(shape, weights), v, heads_of(shape, y, 1, 0), workspace, path);
}

template <class T>
void attention_backward(const Exec& exec, const AttentionShape& shape, const Span<const T>& qkv,
                        const Span<const T>& weights, const Span<const T>& dy, const Span<T>& weight_gradients,
                        const Span<T>& dqkv, const GemmWorkspace<T>& workspace, Path path) {
  const index_t sequences = shape.batch.sequences, heads = shape.heads;
  const auto q = heads_of(shape, qkv, 3, 0), k = heads_of(shape, qkv, 3, 1), v = heads_of(shape, qkv, 3, 2);
  const auto p = weights_of(shape, weights);
  const auto dp = weights_of(shape, weight_gradients);
  const auto gradient = heads_of(shape, dy, 1, 0);
  gemm_grid<T>(exec, sequences, heads, p.transposed(), gradient, heads_of(shape, dqkv, 3, 2), workspace, path);
  gemm_grid<T>(exec, sequences, heads, gradient, v.transposed(), dp, workspace, path);
  softmax_backward<T>(exec, shape, weights, weight_gradients);
  gemm_grid<T>(exec, sequences, heads, dp, k, heads_of(shape, dqkv, 3, 0), workspace, path);
  gemm_grid<T>(exec, sequences, heads, dp.transposed(), q, heads_of(shape, dqkv, 3, 1), workspace, path);
}

#define GRADCOMP_INSTANTIATE(T)                                                                                       \
  template void attention_forward<T>(const Exec&, const AttentionShape&, const Span<const T>&, const Span<T>&,        \
                                     const Span<T>&, const GemmWorkspace<T>&, Path);                                  \
  template void attention_backward<T>(const Exec&, const AttentionShape&, const Span<const T>&, const Span<const T>&, \
                                      const Span<const T>&, const Span<T>&, const Span<T>&, const GemmWorkspace<T>&,  \
                                      Path);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn
