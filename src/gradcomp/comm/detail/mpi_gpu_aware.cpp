// Whether the MPI library can read device memory.
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <cstdlib>
#include <string>

#include "gradcomp/comm/transports/mpi.hpp"

namespace gradcomp {

bool mpi_is_gpu_aware() {
#if defined(KOKKOS_ENABLE_CUDA) && defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  if (MPIX_Query_cuda_support() == 1) return true;
#endif
#if defined(KOKKOS_ENABLE_HIP) && defined(OMPI_HAVE_MPI_EXT_ROCM) && OMPI_HAVE_MPI_EXT_ROCM
  if (MPIX_Query_rocm_support() == 1) return true;
#endif
  const char* mpich = std::getenv("MPICH_GPU_SUPPORT_ENABLED");
  return mpich != nullptr && std::string(mpich) == "1";
}

}  // namespace gradcomp
