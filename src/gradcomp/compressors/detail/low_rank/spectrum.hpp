#pragma once
// The probabilities with which ATOMO sends the terms of a decomposition (Wang et al., NeurIPS 2018, algorithm 1).
#include <vector>

#include "gradcomp/core/layout.hpp"

namespace gradcomp::compressors {

/// The matrix as which spectral ATOMO sees a tensor.
struct MatrixShape {
  index_t rows = 0, columns = 0;  ///< in row-major order, as the tensor is stored; 0: the tensor is not decomposed
};

/// The authors' rule, for tensors whose last two extents a and b are inputs and outputs. Matrices (all other extents
/// are 1) stay as they are. Filters of k places become 2 k x a b / 2, or k x a b if a b is odd. Vectors become n / 2 x
/// 2; vectors of odd length are not decomposed.
MatrixShape spectral_shape(const Segment& segment);

/// The probabilities p_i that minimise the variance of sum l_i / p_i over drawn terms. Their sum is min(budget, number
/// of positive values). Values larger than their share get p_i = 1; the others share the rest of the budget in
/// proportion to their size. `values` are descending and not negative; zeros get 0.
void water_filling(const std::vector<double>& values, index_t budget, std::vector<double>& probabilities);

}  // namespace gradcomp::compressors
