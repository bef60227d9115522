#include "gradcomp/nn/layers/affine.hpp"

namespace gradcomp::nn {

template <class T>
Affine<T>::Affine(Layout& layout, const std::string& prefix, index_t in, index_t out) {
  m_weight = layout.add(prefix + "weight", {in, out}).segments.back();
  m_bias = layout.add(prefix + "bias", {out}).segments.back();
}

template <class T>
void Affine<T>::forward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& parameters, const Matrix<T>& y,
                        const GemmWorkspace<T>& workspace, Path path) const {
  gemm<T>(exec, x, weight(parameters), y, workspace, path, {false, parameters.data() + m_bias.offset});
}

template <class T>
void Affine<T>::backward(const Exec& exec, const Matrix<const T>& x, const Matrix<const T>& dy,
                         const Span<const T>& parameters, const Span<T>& gradient, const Matrix<T>& dx,
                         const Span<T>& partials, const GemmWorkspace<T>& workspace, Path path) const {
  column_sums<T>(exec, dy, partials, subspan(gradient, m_bias.offset, m_bias.count));
  gemm<T>(exec, x.transposed(), dy, weight(gradient), workspace, path);
  gemm<T>(exec, dy, weight(parameters).transposed(), dx, workspace, path);
}

template class Affine<float>;
template class Affine<double>;

}  // namespace gradcomp::nn
