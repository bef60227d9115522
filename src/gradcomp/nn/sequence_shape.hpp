#pragma once
// Extents of a batch of sequences.
#include "gradcomp/core/types.hpp"

namespace gradcomp::nn {

/// Activations are time-major, [steps][sequences][units], so that all rows of one step lie next to each other.
struct SequenceShape {
  index_t steps = 0, sequences = 0;
  KOKKOS_INLINE_FUNCTION index_t rows() const { return steps * sequences; }
};

}  // namespace gradcomp::nn
