// A job whose last rank is in trouble; check_late.cmake looks at how the others end it.
//   late STRATEGY [TROUBLE] [METHODS]
// sleeps: it never comes back from its second backward; stops: neither do its threads; killed: it dies there;
// evaluation: it never comes back from an evaluation, while the others wait for no exchange.
#include <csignal>
#include <thread>

#include "gradcomp/comm/queued.hpp"
#include "training/watched_model.hpp"

int main(int argc, char** argv) {
  using namespace gradcomp;
  return run_mpi_program("late", argc, argv, [&](const MpiSession& session) {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    const std::string trouble = argc > 2 ? argv[2] : "sleeps";
    train::test::Rig rig;
    rig.options.strategy = argc > 1 ? argv[1] : "overlapped";
    rig.options.time_limit = 1;
    rig.options.evaluate_every = 2;
    rig.control = make_limited(std::move(rig.control), rig.options.time_limit);  // as gradcomp-train does
    const bool last_rank = session.rank() == session.size() - 1;
    const auto sleep = [] { std::this_thread::sleep_for(std::chrono::minutes(5)); };
    int steps = 0;
    train::test::WatchedModel& model = train::test::watch(rig);
    model.on_ready = [&](std::size_t first, const Span<float>&) {
      if (first != 0 || steps++ != 1 || !last_rank) return;
      if (trouble == "sleeps") sleep();
      if (trouble == "stops") std::raise(SIGSTOP);
      if (trouble == "killed") std::raise(SIGKILL);
    };
    model.on_infer = [&] {
      if (trouble == "evaluation" && last_rank) sleep();
    };
    rig.run(argc > 3 ? argv[3] : "fp32,top_k:reducer=ok_topk");
    fmt::print("late: all steps were done\n");
    return 0;
  });
}
