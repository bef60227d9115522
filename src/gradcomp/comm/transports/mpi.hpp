#pragma once
// mpi: blocking calls on a duplicate of the caller's communicator, so that a collective call has ended when start()
// returns. To overlap, run it on a communication thread (queued.hpp). Messages between two ranks have a duplicate of
// their own and an engine beside it (detail/point_to_point.hpp): they never block.
#include <mpi.h>

#include "gradcomp/comm/registry.hpp"

namespace gradcomp {

struct MpiOptions {
  enum class GpuAware { automatic, on, off };
  GpuAware gpu_aware = GpuAware::automatic;  ///< hand device pointers to MPI; automatic: when the library says it can
  index_t chunk_limit = index_t{1} << 30;    ///< elements per MPI call
  bool always_stage = false;                 ///< for tests: copy through host buffers even where that is not needed
  double limit_seconds = 0;                  ///< how long a message is waited for; 0: for ever
  int ranks_per_node = 0;                    ///< emulated nodes of so many ranks; 0: as the machine has
};

/// What the MPI library says of itself (mpi-ext.h, MPICH_GPU_SUPPORT_ENABLED). Call after MPI_Init.
bool mpi_is_gpu_aware();

/// The ranks of `comm`, which stays the caller's. Collective. name(): "mpi", or "mpi(host-staged)" where device buffers
/// are copied through the host.
std::unique_ptr<Transport> make_mpi(MPI_Comm comm, const MpiOptions& options = {});

namespace transports {
/// `owned`: an MPI_Comm.
TransportEntry mpi();
}  // namespace transports

}  // namespace gradcomp
