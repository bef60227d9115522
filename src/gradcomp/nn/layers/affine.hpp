#pragma once
// A linear layer, y = x w + b, with its place among the parameters, on all rows of a batch of sequences.
#include <string>

#include "gradcomp/core/layout.hpp"
#include "gradcomp/nn/gemm/column_sums.hpp"

namespace gradcomp::nn {

template <class T>
class Affine {
 public:
  /// Adds prefix + "weight" {in, out} and prefix + "bias" {out} to the layout.
  Affine(Layout& layout, const std::string& prefix, index_t in, index_t out);

  index_t products() const { return m_weight.count; }  ///< multiply-adds per row

  void forward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& parameters, const Matrix<T>& y,
               const GemmWorkspace<T>& workspace, Path path) const;

  /// Writes the gradients of weight and bias, and of x. partials: scratch of column_sums().
  void backward(const Exec& exec, const Matrix<const T>& x, const Matrix<const T>& dy, const Span<const T>& parameters,
                const Span<T>& gradient, const Matrix<T>& dx, const Span<T>& partials,
                const GemmWorkspace<T>& workspace, Path path) const;

 private:
  template <class U>
  Matrix<U> weight(const Span<U>& of) const {
    return Matrix<U>::dense(of.data() + m_weight.offset, m_weight.rows(), m_weight.columns());
  }

  Segment m_weight, m_bias;
};

}  // namespace gradcomp::nn
