#pragma once
// Functions of OpenBLAS, if it is the BLAS that was linked: under CBLAS, or under Kokkos Kernels on a host.
#include <string>

namespace gradcomp::kernels {

/// Makes OpenBLAS use one thread: its threads beside those of Kokkos would oversubscribe the cores (spinning made it 20
/// times slower). Does nothing with another BLAS.
void use_one_openblas_thread();

/// The configuration of OpenBLAS and the core whose kernels it chose ("OpenBLAS 0.3.29 ... on Haswell"); empty with
/// another BLAS.
std::string openblas_description();

}  // namespace gradcomp::kernels
