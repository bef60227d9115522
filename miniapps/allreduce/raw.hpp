#pragma once
// The library's own allreduce, beside ours.
#include "gradcomp/allreduce/allreduce_benchmark.hpp"

/// Milliseconds of the median MPI_Allreduce that sums `elements` floats in host memory over all ranks, as the slowest
/// rank sees each; timed as measure_reduction() times ours. 0 elements: 0.
double raw_allreduce_ms(gradcomp::index_t elements, const gradcomp::ReductionOptions& options);
