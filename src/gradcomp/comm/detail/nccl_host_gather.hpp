#pragma once
// What the ranks tell each other on the host, over MPI, before a call of NCCL: sizes of blocks and measured times.
#include <mpi.h>

#include <cstddef>
#include <memory>

#include "gradcomp/comm/detail/nccl_comm.hpp"

namespace gradcomp::comm {

class NcclHostGather {
 public:
  /// `host`: an MPI communicator of the ranks of `comm`.
  NcclHostGather(NcclComm& comm, MPI_Comm host, int ranks);
  ~NcclHostGather();

  /// Gathers the `bytes` bytes at `own` of every rank in `all`, in rank order. The call waits for the other ranks. It
  /// does not block inside MPI, so that the limit of the communicator holds for it too. `what` names it in errors.
  void gather(const void* own, std::size_t bytes, void* all, const char* what);

 private:
  struct Buffers;

  NcclComm& m_comm;
  MPI_Comm m_host;
  std::size_t m_ranks;
  std::unique_ptr<Buffers> m_buffers;  ///< null until the first call
};

}  // namespace gradcomp::comm
