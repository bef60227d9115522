#include "gradcomp/nn/recurrent/lstm_layer.hpp"

#include "gradcomp/nn/gemm/column_sums.hpp"
#include "gradcomp/nn/recurrent/lstm_steps.hpp"

namespace gradcomp::nn {
namespace {

enum Tensor { input_weight, hidden_weight, input_bias, hidden_bias };

/// to = a + b.
template <class T>
void add_biases(const Exec& exec, const Span<const T>& a, const Span<const T>& b, const Span<T>& to) {
  Kokkos::parallel_for(
      "gradcomp::nn::add_biases", IndexRange(exec, 0, static_cast<index_t>(a.extent(0))),
      KOKKOS_LAMBDA(const index_t i) { to(i) = a(i) + b(i); });
}

template <class T>
void copy(const Exec& exec, const T* from, T* to, index_t count) {
  Kokkos::deep_copy(exec, Span<T>(to, static_cast<std::size_t>(count)),
                    Span<const T>(from, static_cast<std::size_t>(count)));
}

}  // namespace

template <class T>
LstmWorkspace<T>::LstmWorkspace(const SequenceShape& largest, index_t units)
    : gate_gradients("gradcomp::nn::gate_gradients", 4 * largest.rows() * units),
      dh("gradcomp::nn::hidden_gradient", largest.sequences * units),
      dc("gradcomp::nn::cell_gradient", largest.sequences * units),
      bias("gradcomp::nn::bias", 4 * units),
      partials("gradcomp::nn::bias_partials", column_sums_scratch(largest.rows(), 4 * units)) {
  if constexpr (device_is_host) packed = Vector<T>("gradcomp::nn::packed_weights", host::lstm_packed_size<T>(units));
}

template <class T>
LstmLayer<T>::LstmLayer(Layout& layout, const std::string& prefix, index_t in, index_t units,
                        const SequenceShape& largest)
    : m_in(in),
      m_units(units),
      m_segment(layout.segments.size()),
      m_gates("gradcomp::nn::gates", 4 * largest.rows() * units),
      m_hidden("gradcomp::nn::hidden", (largest.rows() + largest.sequences) * units),
      m_cell("gradcomp::nn::cell", m_hidden.extent(0)),
      m_tanh("gradcomp::nn::tanh_cell", largest.rows() * units) {
  layout.add(prefix + "input.weight", {in, 4 * units}).add(prefix + "hidden.weight", {units, 4 * units});
  layout.add(prefix + "input.bias", {4 * units}).add(prefix + "hidden.bias", {4 * units});
  for (std::size_t t = 0; t < 4; ++t) m_tensors[t] = layout.segments[m_segment + t];
}

template <class T>
template <class U>
Matrix<U> LstmLayer<T>::tensor(const Span<U>& of, int number) const {
  const Segment& segment = m_tensors[number];
  return Matrix<U>::dense(of.data() + segment.offset, segment.rows(), segment.columns());
}

template <class T>
Matrix<const T> LstmLayer<T>::output(const SequenceShape& shape) const {
  return Matrix<const T>::dense(m_hidden.data() + shape.sequences * m_units, shape.rows(), m_units);
}

template <class T>
void LstmLayer<T>::forward(const Exec& exec, const SequenceShape& shape, const Matrix<const T>& x,
                           const Span<const T>& parameters, const Span<T>& h, const Span<T>& c,
                           LstmWorkspace<T>& workspace, Path path) {
  const index_t state = shape.sequences * m_units, last = shape.rows() * m_units;
  copy<T>(exec, h.data(), m_hidden.data(), state);
  copy<T>(exec, c.data(), m_cell.data(), state);
  const Segment &bias = m_tensors[input_bias], &more = m_tensors[hidden_bias];
  add_biases<T>(exec, subspan(parameters, bias.offset, bias.count), subspan(parameters, more.offset, more.count),
                workspace.bias);
  gemm<T>(exec, x, tensor(parameters, input_weight), Matrix<T>::dense(m_gates.data(), shape.rows(), 4 * m_units),
          workspace.gemm, path, {false, workspace.bias.data()});
  const LstmSteps<T> pass{
      shape, m_units, tensor(parameters, hidden_weight), m_gates.data(), m_hidden.data(), m_cell.data(), m_tanh.data()};
  bool done = false;
  if constexpr (device_is_host) {
    done = path == Path::best;
    if (done) host::lstm_forward<T>(exec, pass, workspace.packed.data());
  }
  if (!done) portable::lstm_forward<T>(exec, pass, workspace.gemm, path);
  copy<T>(exec, m_hidden.data() + last, h.data(), state);
  copy<T>(exec, m_cell.data() + last, c.data(), state);
}

template <class T>
void LstmLayer<T>::backward(const Exec& exec, const SequenceShape& shape, const Matrix<const T>& x,
                            const Matrix<const T>& dy, const Span<const T>& parameters, const Span<T>& gradient,
                            const Matrix<T>& dx, LstmWorkspace<T>& workspace, Path path) const {
  const LstmSteps<T> pass{
      shape, m_units, tensor(parameters, hidden_weight), m_gates.data(), m_hidden.data(), m_cell.data(), m_tanh.data()};
  const LstmGradients<T> gradients{dy, workspace.gate_gradients.data(), workspace.dh.data(), workspace.dc.data()};
  Kokkos::deep_copy(exec, workspace.dh, T(0));
  Kokkos::deep_copy(exec, workspace.dc, T(0));
  bool done = false;
  if constexpr (device_is_host) {
    done = path == Path::best;
    if (done) host::lstm_backward<T>(exec, pass, gradients, workspace.packed.data());
  }
  if (!done) portable::lstm_backward<T>(exec, pass, gradients, workspace.gemm, path);

  const auto sums = Matrix<const T>::dense(gradients.gates, shape.rows(), 4 * m_units);
  const auto before = Matrix<const T>::dense(m_hidden.data(), shape.rows(), m_units);
  gemm<T>(exec, x.transposed(), sums, tensor(gradient, input_weight), workspace.gemm, path);
  gemm<T>(exec, before.transposed(), sums, tensor(gradient, hidden_weight), workspace.gemm, path);
  const Segment &bias = m_tensors[input_bias], &more = m_tensors[hidden_bias];
  column_sums<T>(exec, sums, workspace.partials, subspan(gradient, bias.offset, bias.count));
  copy<T>(exec, gradient.data() + bias.offset, gradient.data() + more.offset, more.count);
  if (dx.data == nullptr) return;
  gemm<T>(exec, sums, tensor(parameters, input_weight).transposed(), dx, workspace.gemm, path);
}

#define GRADCOMP_INSTANTIATE(T)     \
  template struct LstmWorkspace<T>; \
  template class LstmLayer<T>;
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn
