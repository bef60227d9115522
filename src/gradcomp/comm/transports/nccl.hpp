#pragma once
// nccl: NCCL (in a HIP build RCCL) with one rank per device. Collective calls run on a stream of their own, so that
// computation can hide them. The ranks meet over MPI, which also carries the sizes of blocks and the messages between
// two ranks (NCCL has no tags). Needs -DGRADCOMP_ENABLE_NCCL=ON.
//
// start() enqueues on the calling thread. It waits on the host only for the sizes of an AllGatherV or AllToAllV, and
// when `allgatherv=auto` measures. order() lets the device wait. Times come as events (Operation::take_events()).
// An asynchronous error of NCCL, abandon(), or a call that does not end within the limit, aborts the communicator:
// threads that wait for the device go on, and the next use of the transport throws Error.
#include "gradcomp/comm/detail/nccl_gather.hpp"
#include "gradcomp/comm/registry.hpp"
#include "gradcomp/comm/transports/mpi.hpp"

namespace gradcomp {

struct NcclOptions {
  comm::GatherWay allgatherv = comm::GatherWay::automatic;
  MpiOptions messages;       ///< of the messages between two ranks
  double limit_seconds = 0;  ///< seconds from the start of a call to its end; 0: no limit but that of limit()
};

/// Collective. A transport between the ranks of `comm`, which remains the caller's. name(): such as
/// "nccl(messages=mpi)". Throws AgreedError if two ranks share a device.
std::unique_ptr<Transport> make_nccl(MPI_Comm comm, const NcclOptions& options = {});

namespace transports {
/// `owned`: an MPI_Comm.
TransportEntry nccl();
}  // namespace transports

}  // namespace gradcomp
