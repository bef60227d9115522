#pragma once
// mpi: blocking calls on a duplicate of the caller's communicator, so that a collective call has ended when start()
// returns. To overlap, wrap it with a communication thread (queued.hpp). Messages between two ranks never block: they
// travel on a second duplicate, with an engine of their own (detail/point_to_point.hpp).
#include <mpi.h>

#include "gradcomp/comm/registry.hpp"

namespace gradcomp {

struct MpiOptions {
  enum class GpuAware { automatic, on, off };
  GpuAware gpu_aware = GpuAware::automatic;  ///< MPI gets device pointers; automatic: if mpi_is_gpu_aware()
  index_t chunk_limit = index_t{1} << 30;    ///< elements per MPI call, in [1, 2^31)
  bool always_stage = false;                 ///< for tests: copy through host buffers even if that is not needed
  double limit_seconds = 0;  ///< seconds to wait for a message, after which the job must end; 0: no limit
  int ranks_per_node = 0;    ///< consecutive ranks that form an emulated node; 0: nodes of the machine
};

/// Whether the MPI library says that it can read device memory (mpi-ext.h, or MPICH_GPU_SUPPORT_ENABLED=1). Call it
/// after MPI_Init().
bool mpi_is_gpu_aware();

/// Collective. A transport between the ranks of `comm`, which remains the caller's. name(): "mpi", or
/// "mpi(host-staged)" if device buffers are copied through the host. Throws Error for an impossible chunk_limit.
std::unique_ptr<Transport> make_mpi(MPI_Comm comm, const MpiOptions& options = {});

namespace transports {
/// `owned`: an MPI_Comm.
TransportEntry mpi();
}  // namespace transports

}  // namespace gradcomp
