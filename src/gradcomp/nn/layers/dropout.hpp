#pragma once
// Dropout (Srivastava et al. 2014, in the form that scales in training): a mask that is drawn anew wherever it is
// needed.
#include "gradcomp/nn/gemm/gemm.hpp"

namespace gradcomp::nn {

/// The mask of one layer in one batch: a pure function of (key, layer, sequence, step, unit).
struct Dropout {
  double rate = 0;        ///< probability of a zero, in [0, 1)
  std::uint64_t key = 0;  ///< Batch::key
  index_t layer = 0;      ///< keeps the masks of a model's layers apart
  index_t sequences = 1;  ///< rows are time-major, [steps][sequences]
  index_t steps = 1;
};

/// to = mask x / (1 - rate), row by row; x and to may be the same. Applied to a gradient it is its own backward pass.
template <class T>
void apply_dropout(const Exec& exec, const Dropout& dropout, const Matrix<const T>& x, const Matrix<T>& to);

}  // namespace gradcomp::nn
