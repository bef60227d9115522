#pragma once
// nccl: NCCL, or RCCL in a HIP build: one rank per device, collective calls on a stream of their own, which computing
// hides. The ranks meet over MPI, which also carries the sizes of blocks and the messages between two ranks (NCCL has
// no tags). Needs -DGRADCOMP_ENABLE_NCCL=ON.
//
// start() enqueues on the calling thread and waits on the host only for the sizes of an AllGatherV or AllToAllV, and
// where `allgatherv=auto` measures. order() is a wait of the device. Times come as events (Operation::take_events).
// 16-bit sums: by NCCL's own rule, or in rank order (detail/nccl_reduce.hpp); name() says which.
// An asynchronous error of NCCL, or a call that does not end within the limit, aborts the communicator: whoever waits
// for the device goes on, and the next use of the transport throws Error.
#include "gradcomp/comm/detail/nccl_gather.hpp"
#include "gradcomp/comm/registry.hpp"
#include "gradcomp/comm/transports/mpi.hpp"

namespace gradcomp {

struct NcclOptions {
  Sum sum = Sum::library;
  comm::GatherWay allgatherv = comm::GatherWay::automatic;
  MpiOptions messages;       ///< between two ranks
  double limit_seconds = 0;  ///< from the start of a call to its end; 0: for ever
};

/// The ranks of `comm`, which stays the caller's. Collective. Throws AgreedError where two ranks share a device.
/// name(): "nccl(sum=library,messages=mpi)", say.
std::unique_ptr<Transport> make_nccl(MPI_Comm comm, const NcclOptions& options = {});

namespace transports {
/// `owned`: an MPI_Comm.
TransportEntry nccl();
}  // namespace transports

}  // namespace gradcomp
