#include "gradcomp/comm/detail/mpi_nodes.hpp"

#include "gradcomp/comm/mpi_session.hpp"

namespace gradcomp::comm {

int find_ranks_per_node(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  int rank = 0, place = 0, ranks = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_rank(node, &place), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(node, &ranks), "MPI_Comm_size");
  int first = rank;
  check_mpi(MPI_Bcast(&first, 1, MPI_INT, 0, node), "MPI_Bcast");
  check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
  const bool in_a_row = rank == first + place && first % ranks == 0;
  int bounds[2] = {in_a_row ? ranks : 0, in_a_row ? -ranks : 0};  // MPI_MIN finds the smallest and minus the largest
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, bounds, 2, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  return bounds[0] == -bounds[1] ? bounds[0] : 0;
}

}  // namespace gradcomp::comm
