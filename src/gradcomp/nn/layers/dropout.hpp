#pragma once
// Dropout (Srivastava et al. 2014, in the form that scales in training). The mask is not stored: forward and backward
// pass draw it again.
#include "gradcomp/nn/gemm/gemm.hpp"

namespace gradcomp::nn {

/// The mask of one layer in one batch: a pure function of (key, layer, sequence, step, unit).
struct Dropout {
  double rate = 0;        ///< probability of a zero, in [0, 1)
  std::uint64_t key = 0;  ///< Batch::key (model.hpp)
  index_t layer = 0;      ///< number of the layer, so that all layers of a model have different masks
  index_t sequences = 1;  ///< rows are time-major, [steps][sequences]
  index_t steps = 1;
};

/// to = mask x / (1 - rate), row by row; x and `to` may be the same. Applied to a gradient, this is the backward pass.
template <class T>
void apply_dropout(const Exec& exec, const Dropout& dropout, const Matrix<const T>& x, const Matrix<T>& to);

}  // namespace gradcomp::nn
