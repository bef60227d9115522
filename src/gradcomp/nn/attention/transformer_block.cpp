#include "gradcomp/nn/attention/transformer_block.hpp"

#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/nn/exponential.hpp"

namespace gradcomp::nn {
namespace {

template <class T>
Matrix<T> matrix(const Vector<T>& of, index_t rows, index_t columns) {
  return Matrix<T>::dense(of.data(), rows, columns);
}

/// to = a + b; all three are contiguous.
template <class T>
void add(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& to) {
  Kokkos::parallel_for(
      "gradcomp::nn::add", IndexRange(exec, 0, a.rows * a.columns),
      KOKKOS_LAMBDA(const index_t i) { to.data[i] = a.data[i] + b.data[i]; });
}

template <class T>
void gelu_forward(const Exec& exec, const Matrix<const T>& x, const Matrix<T>& y) {
  kernels::for_warps(
      "gradcomp::nn::gelu_forward", exec, x.rows, KOKKOS_LAMBDA(const kernels::Warp& warp, const index_t row) {
        const T* from = &x(row, 0);
        T* to = &y(row, 0);
        kernels::each_element<1>(warp, x.columns, [&](int, index_t j) { to[j] = gelu(from[j]).value; });
      });
}

/// Turns dy, the gradient of gelu(x), into the gradient of x.
template <class T>
void gelu_backward(const Exec& exec, const Matrix<const T>& x, const Matrix<T>& dy) {
  kernels::for_warps(
      "gradcomp::nn::gelu_backward", exec, x.rows, KOKKOS_LAMBDA(const kernels::Warp& warp, const index_t row) {
        const T* from = &x(row, 0);
        T* to = &dy(row, 0);
        kernels::each_element<1>(warp, x.columns, [&](int, index_t j) { to[j] *= gelu(from[j]).derivative; });
      });
}

/// Writes mask x / (1 - rate) to `to` and returns it. If the rate is 0, returns x and writes nothing.
template <class T>
Matrix<const T> dropped(const Exec& exec, const Dropout& dropout, const Matrix<const T>& x, const Matrix<T>& to) {
  if (dropout.rate == 0) return x;
  apply_dropout<T>(exec, dropout, x, to);
  return to;
}

Dropout behind(Dropout dropout) {
  ++dropout.layer;
  return dropout;
}

}  // namespace

template <class T>
NormUnit<T>::NormUnit(Layout& layout, const std::string& prefix, index_t units, index_t max_rows)
    : m_output("gradcomp::nn::normalised", max_rows * units), m_moments("gradcomp::nn::moments", 2 * max_rows) {
  m_weight = layout.add(prefix + "weight", {units}).segments.back();
  m_bias = layout.add(prefix + "bias", {units}).segments.back();
}

template <class T>
void NormUnit<T>::forward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& parameters) {
  layer_norm_forward<T>(exec, x, subspan(parameters, m_weight.offset, m_weight.count),
                        subspan(parameters, m_bias.offset, m_bias.count), matrix(m_output, x.rows, x.columns),
                        m_moments);
}

template <class T>
void NormUnit<T>::backward(const Exec& exec, const Matrix<const T>& x, const Matrix<const T>& dy,
                           const Span<const T>& parameters, const Span<T>& gradient, bool add_to, const Matrix<T>& dx,
                           const Matrix<T>& products, const Span<T>& partials) const {
  column_sums<T>(exec, dy, partials, subspan(gradient, m_bias.offset, m_bias.count));
  layer_norm_backward<T>(exec, x, subspan(parameters, m_weight.offset, m_weight.count), m_moments, dy, add_to, dx,
                         products);
  column_sums<T>(exec, products, partials, subspan(gradient, m_weight.offset, m_weight.count));
}

template <class T>
TransformerWorkspace<T>::TransformerWorkspace(const AttentionShape& largest)
    : wide("gradcomp::nn::wide_gradient", 4 * largest.batch.rows() * largest.units()),
      weights("gradcomp::nn::weight_gradient", largest.weights()),
      partials("gradcomp::nn::bias_partials", column_sums_scratch(largest.batch.rows(), 4 * largest.units())) {
  for (Vector<T>& buffer : rows) {
    buffer = Vector<T>("gradcomp::nn::row_gradient", largest.batch.rows() * largest.units());
  }
}

template <class T>
TransformerBlock<T>::TransformerBlock(Layout& layout, const std::string& prefix, const AttentionShape& largest)
    : m_segment(layout.segments.size()),
      m_norm1(layout, prefix + "norm1.", largest.units(), largest.batch.rows()),
      m_attention_input(layout, prefix + "attention.input.", largest.units(), 3 * largest.units()),
      m_attention_output(layout, prefix + "attention.output.", largest.units(), largest.units()),
      m_norm2(layout, prefix + "norm2.", largest.units(), largest.batch.rows()),
      m_mlp_input(layout, prefix + "mlp.input.", largest.units(), 4 * largest.units()),
      m_mlp_output(layout, prefix + "mlp.output.", 4 * largest.units(), largest.units()) {
  const index_t count = largest.batch.rows() * largest.units();
  m_qkv = Vector<T>("gradcomp::nn::qkv", 3 * count);
  m_weights = Vector<T>("gradcomp::nn::attention_weights", largest.weights());
  m_attended = Vector<T>("gradcomp::nn::attended", count);
  m_between = Vector<T>("gradcomp::nn::between", count);
  m_hidden = Vector<T>("gradcomp::nn::mlp_hidden", 4 * count);
  m_activated = Vector<T>("gradcomp::nn::mlp_activated", 4 * count);
}

template <class T>
index_t TransformerBlock<T>::products() const {
  return m_attention_input.products() + m_attention_output.products() + m_mlp_input.products() +
         m_mlp_output.products();
}

template <class T>
void TransformerBlock<T>::forward(const Exec& exec, const AttentionShape& shape, const Matrix<const T>& x,
                                  const Span<const T>& parameters, const Dropout& dropout, const Matrix<T>& z,
                                  TransformerWorkspace<T>& workspace, Path path) {
  const index_t rows = x.rows, units = shape.units();
  const Matrix<T> part = matrix(workspace.rows[0], rows, units), y = matrix(m_between, rows, units);
  m_norm1.forward(exec, x, parameters);
  m_attention_input.forward(exec, m_norm1.output(rows), parameters, matrix(m_qkv, rows, 3 * units), workspace.gemm,
                            path);
  attention_forward<T>(exec, shape, m_qkv, m_weights, m_attended, workspace.gemm, path);
  m_attention_output.forward(exec, matrix(m_attended, rows, units), parameters, part, workspace.gemm, path);
  add<T>(exec, x, dropped<T>(exec, dropout, part, part), y);

  const Matrix<T> hidden = matrix(m_hidden, rows, 4 * units), activated = matrix(m_activated, rows, 4 * units);
  m_norm2.forward(exec, y, parameters);
  m_mlp_input.forward(exec, m_norm2.output(rows), parameters, hidden, workspace.gemm, path);
  gelu_forward<T>(exec, hidden, activated);
  m_mlp_output.forward(exec, activated, parameters, part, workspace.gemm, path);
  add<T>(exec, y, dropped<T>(exec, behind(dropout), part, part), z);
}

template <class T>
void TransformerBlock<T>::backward(const Exec& exec, const AttentionShape& shape, const Matrix<const T>& x,
                                   const Span<const T>& parameters, const Span<T>& gradient, const Dropout& dropout,
                                   const Matrix<T>& dx, TransformerWorkspace<T>& workspace, Path path) const {
  const index_t rows = x.rows, units = shape.units();
  const Matrix<T> first = matrix(workspace.rows[0], rows, units), second = matrix(workspace.rows[1], rows, units);
  const Span<T> partials = workspace.partials;

  const Matrix<T> wide = matrix(workspace.wide, rows, 4 * units);
  m_mlp_output.backward(exec, matrix(m_activated, rows, 4 * units), dropped<T>(exec, behind(dropout), dx, first),
                        parameters, gradient, wide, partials, workspace.gemm, path);
  gelu_backward<T>(exec, matrix(m_hidden, rows, 4 * units), wide);
  m_mlp_input.backward(exec, m_norm2.output(rows), wide, parameters, gradient, first, partials, workspace.gemm, path);
  m_norm2.backward(exec, matrix(m_between, rows, units), first, parameters, gradient, true, dx, second, partials);

  m_attention_output.backward(exec, matrix(m_attended, rows, units), dropped<T>(exec, dropout, dx, first), parameters,
                              gradient, second, partials, workspace.gemm, path);
  attention_backward<T>(exec, shape, m_qkv, m_weights, workspace.rows[1], workspace.weights, workspace.wide,
                        workspace.gemm, path);
  m_attention_input.backward(exec, m_norm1.output(rows), matrix(workspace.wide, rows, 3 * units), parameters, gradient,
                             first, partials, workspace.gemm, path);
  m_norm1.backward(exec, x, first, parameters, gradient, true, dx, second, partials);
}

#define GRADCOMP_INSTANTIATE(T)            \
  template class NormUnit<T>;              \
  template struct TransformerWorkspace<T>; \
  template class TransformerBlock<T>;
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn
