#pragma once
// AllGatherV over NCCL, which has no such call. There are three ways. Their results differ only in the offsets of the
// blocks:
//
//   padded     one ncclAllGather() of slots of the size of the largest block; send_recv if the slots do not fit
//   broadcast  one ncclBroadcast() per rank, in one group (NCCL >= 2.29.2 makes one kernel of it)
//   send_recv  ranks^2 messages, in one group
//
// Which way is fastest depends on the machine and the size: on 8 GPUs, UCC (Unified Collective Communication, pull
// request 347) found broadcasts best below 256 KiB and padding above 8 MiB. So `automatic` measures: it carries out the
// first call of each class of sizes (all blocks below 256 KiB, below 8 MiB, or larger) several times in each way, and
// all ranks take the way whose slowest rank is fastest. This first call waits on the host.
#include <array>
#include <optional>

#include "gradcomp/comm/call.hpp"
#include "gradcomp/comm/detail/nccl_host_gather.hpp"

namespace gradcomp::comm {

enum class GatherWay { automatic, padded, broadcast, send_recv };

class NcclGather {
 public:
  NcclGather(NcclComm& comm, NcclHostGather& host, int rank, int ranks, GatherWay way);

  /// Exchanges the sizes over MPI, and so waits until the other ranks make this call; fills found.blocks and returns
  /// the way. If the way needs it, copies this rank's block to its place. If the blocks do not fit, all ranks throw
  /// Error.
  GatherWay plan(const AllGatherV& call, Found& found);
  /// Enqueues the call. Call it inside NcclComm::group().
  void carry(const AllGatherV& call, const Found& found, GatherWay way);

 private:
  void place(const AllGatherV& call, Found& found, GatherWay way);
  GatherWay fastest(const AllGatherV& call, Found& found);

  NcclComm& m_comm;
  NcclHostGather& m_host;
  GatherWay m_way;
  int m_rank, m_ranks;
  std::array<std::optional<GatherWay>, 3> m_chosen;  ///< by class of sizes
};

}  // namespace gradcomp::comm
