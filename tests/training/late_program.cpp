// A job whose last rank never comes back from its second backward; check_late.cmake looks at how the limit ends it.
#include <thread>

#include "training/watched_model.hpp"

int main(int argc, char** argv) {
  using namespace gradcomp;
  return run_mpi_program("late", argc, argv, [&](const MpiSession& session) {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    train::test::Rig rig;
    rig.options.strategy = argc > 1 ? argv[1] : "overlapped";
    rig.options.time_limit = 1;
    int steps = 0;
    train::test::watch(rig).on_ready = [&](std::size_t first, const Span<float>&) {
      const bool last_rank = session.rank() == session.size() - 1;
      if (first == 0 && steps++ == 1 && last_rank) std::this_thread::sleep_for(std::chrono::minutes(5));
    };
    rig.run("fp32,top_k:reducer=ok_topk");
    fmt::print("late: all steps were done\n");
    return 0;
  });
}
