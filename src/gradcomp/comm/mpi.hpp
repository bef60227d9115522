#pragma once
// The communicator over MPI: blocking calls on a communicator of its own (MPI_Comm_dup), so that a call has ended when
// it returns. To overlap, run it on a communication thread (queued.hpp): in our trials MPI_Iallreduce hid nothing,
// a thread with blocking calls hid all (docs/concepts.md).
#include <memory>
#include <string>

#include "gradcomp/comm/communicator.hpp"
#include "gradcomp/comm/mpi_session.hpp"

namespace gradcomp {

struct MpiOptions {
  enum class GpuAware { automatic, on, off };
  GpuAware gpu_aware = GpuAware::automatic;  ///< hand device pointers to MPI; automatic: when the library says it can
  index_t chunk_limit = index_t{1} << 30;    ///< elements per MPI call
  bool always_stage = false;                 ///< for tests: copy through host buffers even where that is not needed
};

/// Parses "auto", "on" or "off".
MpiOptions::GpuAware parse_gpu_aware(const std::string& text);

/// What the MPI library says of itself (mpi-ext.h, MPICH_GPU_SUPPORT_ENABLED). Call after MPI_Init.
bool mpi_is_gpu_aware();

/// All ranks of the session. name(): "mpi", or "mpi(host-staged)" where device buffers are copied through the host.
std::unique_ptr<Communicator> make_mpi_communicator(const MpiSession& session, const MpiOptions& options = {});

}  // namespace gradcomp
