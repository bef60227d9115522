#pragma once
// Which ranks of a communicator share a machine.
#include <mpi.h>

namespace gradcomp::comm {

/// The number of ranks per node, if all nodes have the same number and the ranks of a node are consecutive; otherwise
/// 0. Collective.
int find_ranks_per_node(MPI_Comm comm);

}  // namespace gradcomp::comm
