#pragma once
// Which ranks of a communicator share a machine.
#include <mpi.h>

namespace gradcomp::comm {

/// Ranks of each node when all nodes have as many, and those of a node follow each other; otherwise 0. Collective.
int find_ranks_per_node(MPI_Comm comm);

}  // namespace gradcomp::comm
