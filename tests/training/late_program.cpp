// A job whose last rank (with a dedicated server: its first rank) is in trouble. check_late.cmake checks how the other
// ranks end the job.
//   late STRATEGY [TROUBLE] [METHODS]
// TROUBLE is one of: sleeps (the rank never returns from its second backward), stops (its other threads stop too),
// killed (it dies there), link (as stops, over an emulated link), evaluation (it never returns from an evaluation,
// while the others do not wait for an exchange).
#include <csignal>
#include <thread>

#include "gradcomp/comm/queued.hpp"
#include "gradcomp/comm/throttled.hpp"
#include "training/watched_model.hpp"

int main(int argc, char** argv) {
  using namespace gradcomp;
  return run_mpi_program("late", argc, argv, [&](const MpiSession& session) {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    const std::string trouble = argc > 2 ? argv[2] : "sleeps";
    train::test::Rig rig;
    rig.options.strategy = argc > 1 ? argv[1] : "overlapped";
    rig.options.timeout = 1;
    rig.options.evaluate_every = 2;
    barrier(*rig.control);  // beside a load one rank may begin seconds after the other
    rig.control = make_limited(std::move(rig.control), rig.options.timeout);  // as gradcomp-train does
    if (trouble == "link") {
      rig.transport = make_throttled(std::move(rig.transport), parse_link("1Gbit/s,10us"), rig.options.timeout);
    }
    const bool serves =
        rig.options.strategy.find("dedicated=on") != std::string::npos;  // the last rank computes nothing
    const bool in_trouble = session.rank() == (serves ? 0 : session.size() - 1);
    const auto sleep = [] { std::this_thread::sleep_for(std::chrono::minutes(5)); };
    int steps = 0;
    train::test::WatchedModel& model = train::test::watch(rig);
    model.on_ready = [&](std::size_t first, const Span<float>&) {
      if (first != 0 || steps++ != 1 || !in_trouble) return;
      if (trouble == "sleeps") sleep();
      if (trouble == "stops" || trouble == "link") std::raise(SIGSTOP);
      if (trouble == "killed") std::raise(SIGKILL);
    };
    model.on_infer = [&] {
      if (trouble == "evaluation" && in_trouble) sleep();
    };
    rig.run(argc > 3 ? argv[3] : "fp32,top_k:reducer=ok_topk");
    fmt::print("late: all steps were done\n");
    return 0;
  });
}
