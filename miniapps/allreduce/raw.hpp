#pragma once
// Times MPI_Allreduce itself, for comparison with our reductions.
#include "gradcomp/allreduce/allreduce_benchmark.hpp"

/// Median time, in milliseconds, of an MPI_Allreduce that sums `elements` floats in host memory over all ranks. The
/// time of a call is that of the slowest rank. Repetitions are those of measure_reduction(). Returns 0 for 0 elements.
double raw_allreduce_ms(gradcomp::index_t elements, const gradcomp::ReductionOptions& options);
