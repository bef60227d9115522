#pragma once
// AllGatherV over NCCL, which has no such call. Three ways, with the same result but for where blocks begin:
//
//   padded     one ncclAllGather of slots of the largest block's size; where that does not fit the room, send_recv
//   broadcast  one ncclBroadcast per rank, in one group (NCCL >= 2.29.2 makes one kernel of it)
//   send_recv  ranks^2 messages, in one group
//
// Which is fastest depends on the machine and the size: on 8 GPUs UCC (its pull request 347) found broadcasts best
// below 256 KiB and padding above 8 MiB. So `automatic` measures: the first call of each class of sizes (below 256 KiB
// in sum, below 8 MiB, above) is carried out in each way some times, and all ranks take the one with the least time of
// the slowest rank. That call waits on the host.
#include <mpi.h>

#include <array>
#include <optional>

#include "gradcomp/comm/call.hpp"
#include "gradcomp/comm/detail/nccl_comm.hpp"

namespace gradcomp::comm {

enum class GatherWay { automatic, padded, broadcast, send_recv };

class NcclGather {
 public:
  NcclGather(NcclComm& comm, MPI_Comm host, int rank, int ranks, GatherWay way);

  /// Exchanges the sizes over MPI, and so waits for the other ranks to make this call; fills found.blocks. Throws Error
  /// on all ranks when the blocks do not fit. Copies this rank's block to its place where the way needs that.
  GatherWay plan(const AllGatherV& call, Found& found);
  /// Inside NcclComm::group().
  void carry(const AllGatherV& call, const Found& found, GatherWay way);

 private:
  void place(const AllGatherV& call, Found& found, GatherWay way);
  GatherWay fastest(const AllGatherV& call, Found& found);

  NcclComm& m_comm;
  MPI_Comm m_host;
  GatherWay m_way;
  int m_rank, m_ranks;
  std::array<std::optional<GatherWay>, 3> m_chosen;  ///< by class of sizes
};

}  // namespace gradcomp::comm
