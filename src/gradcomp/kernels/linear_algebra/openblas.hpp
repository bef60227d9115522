#pragma once
// OpenBLAS, where it is the BLAS that was linked: under CBLAS, and under Kokkos Kernels on a host.
#include <string>

namespace gradcomp::kernels {

/// Threads of OpenBLAS beside those of Kokkos would oversubscribe the cores (spinning costs 20x). Nothing with another
/// BLAS.
void use_one_openblas_thread();

/// Its configuration and the core whose kernels it chose ("OpenBLAS 0.3.29 ... on Haswell"); empty with another BLAS.
std::string openblas_description();

}  // namespace gradcomp::kernels
