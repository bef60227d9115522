#pragma once
// Which terms of a decomposition travel: the probabilities of ATOMO (Wang et al., NeurIPS 2018, algorithm 1).
#include <vector>

#include "gradcomp/core/layout.hpp"

namespace gradcomp::compressors {

/// Matrix that spectral ATOMO sees in a tensor.
struct MatrixShape {
  index_t rows = 0, columns = 0;  ///< row after row, as the tensor is stored; 0: it is none
};

/// The authors' rule, for tensors whose last two extents a, b are inputs and outputs: matrices (all other extents 1) as
/// they are; filters of k places as 2 k x a b / 2, k x a b where a b is odd; vectors as n / 2 x 2, none where n is odd.
MatrixShape spectral_shape(const Segment& segment);

/// Probabilities with sum min(budget, number of positive values) that minimise the variance of sum l_i / p_i over drawn
/// terms: p_i = 1 for those larger than their share, in proportion to the rest for the others. `values` are descending
/// and not negative; zeros get 0.
void water_filling(const std::vector<double>& values, index_t budget, std::vector<double>& probabilities);

}  // namespace gradcomp::compressors
