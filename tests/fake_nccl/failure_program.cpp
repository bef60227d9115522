// A job over the transport nccl that fails in the way that its argument names. check_failure.cmake checks how it ends.
#include <chrono>
#include <thread>

#include "fake.hpp"
#include "gradcomp/comm/detail/nccl_bootstrap.hpp"
#include "gradcomp/comm/mpi_session.hpp"
#include "gradcomp/comm/transports/nccl.hpp"

int main(int argc, char** argv) {
  using namespace gradcomp;
  return run_mpi_program("nccl_failure", argc, argv, [&](const MpiSession& session) {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "device")
      comm::require_own_devices(MPI_COMM_WORLD, session.rank() == 1 ? "0000:17:00.0" : "0000:65:00.0");
    NcclOptions options;
    options.limit_seconds = what.starts_with("limit") ? 0.5 : 0;
    const auto transport = make_nccl(MPI_COMM_WORLD, options);
    barrier(*transport);
    if (what == "error" && session.rank() == 1) fake_nccl::inject(ncclRemoteError);
    // This is far longer than the test may take. The end of the other ranks must end this one.
    if (what.starts_with("limit") && session.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(1000));
    const index_t count = what == "differ" && session.rank() == 2 ? 7 : 8;
    const Vector<std::byte> own("own", 8), all("all", 512);
    if (what == "limit_sizes") run(*transport, Exec(), AllGatherV{own.data(), 8, all.data(), 512});
    const Vector<float> x("x", 8);
    run(*transport, Exec(), AllReduce{x.data(), x.data(), count});
    if (session.rank() == 0) fmt::print("nccl_failure: all ranks met\n");
    return 0;
  });
}
