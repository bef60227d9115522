#pragma once
// How ranks of an MPI communicator form one of NCCL.
#include <mpi.h>

#include <string>

#include "gradcomp/comm/detail/nccl_api.hpp"

namespace gradcomp::comm {

/// What no two devices of a host share: the PCI bus address of the device of Exec(); on hosts one for each process.
std::string own_device();

/// Collective. Throws AgreedError that names two ranks of one host which have the same `device`, where there are such:
/// NCCL takes one rank per device.
void require_own_devices(MPI_Comm comm, const std::string& device);

/// Collective: ranks and sizes are those of `comm`. The caller's, until ncclCommDestroy or ncclCommAbort. Throws
/// AgreedError where rank 0 cannot begin, Error where this rank cannot join.
ncclComm_t make_nccl_comm(MPI_Comm comm);

}  // namespace gradcomp::comm
