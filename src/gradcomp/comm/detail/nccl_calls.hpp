#pragma once
// The collective calls of a Transport in NCCL's terms, enqueued on the communicator's stream.
#include <mpi.h>

#include <span>

#include "gradcomp/comm/detail/nccl_gather.hpp"
#include "gradcomp/comm/detail/nccl_reduce.hpp"

namespace gradcomp::comm {

class NcclCalls {
 public:
  /// `host`: the same `ranks` over MPI, for sizes.
  NcclCalls(NcclComm& comm, MPI_Comm host, int rank, int ranks, Sum sum, GatherWay way);

  /// Begins the collective ones of the calls: in one group what NCCL has, then one by one what takes more. Throws Error
  /// on all ranks before anything has begun when blocks do not fit.
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

  /// What takes more than one group.
  bool takes_more(const Call& call) const;

  NcclComm& m_comm;
  MPI_Comm m_host;
  Sum m_sum;
  int m_rank, m_ranks;
  NcclGather m_gather;
  NcclReduce m_reduce;
  std::vector<GatherWay> m_ways;  ///< of the AllGatherV of the group, in order
  std::size_t m_next_way = 0;     ///< while they are enqueued
  Vector<std::byte> m_token;      ///< of barriers
};

}  // namespace gradcomp::comm
