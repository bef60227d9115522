#pragma once
// Carries the collective calls of a Transport with NCCL, on the communicator's stream.
#include <mpi.h>

#include <span>

#include "gradcomp/comm/detail/nccl_gather.hpp"
#include "gradcomp/comm/detail/nccl_reduce.hpp"

namespace gradcomp::comm {

class NcclCalls {
 public:
  /// `host`: the MPI communicator of the same ranks, which exchanges sizes.
  NcclCalls(NcclComm& comm, MPI_Comm host, int rank, int ranks, GatherWay way);

  /// Begins the collective calls among `together`: first, in one group, those that NCCL has; then, one by one, those
  /// that take several groups. If blocks do not fit, all ranks throw Error before any call has begun.
  void carry(std::span<const Call> together, std::span<Found> found);

 private:
  void plan(const AllGatherV& call, Found& found);
  void plan(const AllToAllV& call, Found& found);
  void plan(const AllToAll& call, Found& found);
  template <class C>
  void plan(const C&, Found&) {}

  void enqueue(const AllReduce& call, const Found& found);
  void enqueue(const AllGather& call, const Found& found);
  void enqueue(const AllGatherV& call, const Found& found);
  void enqueue(const AllToAll& call, const Found& found);
  void enqueue(const AllToAllV& call, const Found& found);
  void enqueue(const ReduceScatter& call, const Found& found);
  void enqueue(const Broadcast& call, const Found& found);
  void enqueue(const Barrier& call, const Found& found);
  template <class C>
  void enqueue(const C&, const Found&) {}  // messages between two ranks

  /// Whether the call takes more than one group.
  bool takes_more(const Call& call) const;

  NcclComm& m_comm;
  NcclHostGather m_host;
  int m_rank, m_ranks;
  NcclGather m_gather;
  NcclReduce m_reduce;
  std::vector<GatherWay> m_ways;  ///< of the AllGatherV calls of the group, in order
  std::size_t m_next_way = 0;     ///< the way of the next AllGatherV that is enqueued
  Vector<std::byte> m_token;      ///< what barriers reduce
};

}  // namespace gradcomp::comm
