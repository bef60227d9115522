// A job that fails in the way that its argument names. check_failure.cmake checks how it ends.
#include "gradcomp/comm/agree.hpp"
#include "gradcomp/comm/mpi_session.hpp"
#include "gradcomp/comm/transports/mpi.hpp"

int main(int argc, char** argv) {
  using namespace gradcomp;
  return run_mpi_program("mpi_failure", argc, argv, [&](const MpiSession& session) {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    const auto comm = make_mpi(MPI_COMM_WORLD);
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "agreed") throw AgreedError("all ranks know");
    if (what == "one" && session.rank() == 1) throw Error("only this rank knows");
    if (what == "exits_early") {
      run_collectively(*comm, [&] { require(session.rank() != 2, "rank 2 cannot open its file"); });
    }
    barrier(*comm);  // the peers of rank 1 wait here
    if (session.rank() == 0) fmt::print("mpi_failure: all ranks met\n");
    return 0;
  });
}
