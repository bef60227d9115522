#pragma once
// Makes an NCCL communicator of the ranks of an MPI communicator.
#include <mpi.h>

#include <string>

#include "gradcomp/comm/detail/nccl_api.hpp"

namespace gradcomp::comm {

/// A text that no two devices of a host share: the PCI bus address of the device of Exec(), or in a host build the id
/// of the process.
std::string own_device();

/// Collective. If two ranks of one host have the same `device`, throws AgreedError that names them: NCCL takes one rank
/// per device.
void require_own_devices(MPI_Comm comm, const std::string& device);

/// Collective. The communicator has the ranks of `comm`. The caller ends it with ncclCommDestroy() or ncclCommAbort().
/// Throws AgreedError if rank 0 cannot begin, and Error if this rank cannot join.
ncclComm_t make_nccl_comm(MPI_Comm comm);

}  // namespace gradcomp::comm
