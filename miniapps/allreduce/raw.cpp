#include "raw.hpp"

#include <mpi.h>

#include <algorithm>
#include <limits>

#include "gradcomp/comm/mpi_session.hpp"
#include "gradcomp/report/row.hpp"

using namespace gradcomp;

double raw_allreduce_ms(index_t elements, const ReductionOptions& options) {
  if (elements == 0) return 0;
  constexpr index_t max_count = std::numeric_limits<int>::max();  // MPI counts with int
  std::vector<float> send(static_cast<std::size_t>(elements), 1.0F), receive(send.size());
  std::vector<double> own;
  for (index_t i = 0; i < options.untimed + options.repetitions; ++i) {
    check_mpi(MPI_Barrier(MPI_COMM_WORLD), "barrier");
    const double begin = MPI_Wtime();
    for (index_t at = 0; at < elements; at += max_count) {
      check_mpi(MPI_Allreduce(send.data() + at, receive.data() + at,
                              static_cast<int>(std::min(max_count, elements - at)), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD),
                "allreduce");
    }
    if (i >= options.untimed) own.push_back(1e3 * (MPI_Wtime() - begin));
  }
  std::vector<double> slowest(own.size());
  check_mpi(
      MPI_Allreduce(own.data(), slowest.data(), static_cast<int>(own.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD),
      "allreduce");
  return report::quantile(slowest, 0.5);
}
