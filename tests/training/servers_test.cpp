// Parameter servers: what they promise about the mean, about staleness, and about what travels.
#include <cmath>
#include <thread>

#include "gradcomp/method/spec.hpp"
#include "gradcomp/strategy/detail/server_keys.hpp"
#include "gradcomp/strategy/detail/worker_clocks.hpp"
#include "training/rig.hpp"
#include "training/strategy_rig.hpp"

namespace gradcomp::train::test {
namespace servers_test {

Setting with_servers(const std::string& method, const std::string& options, const std::string& optimiser = "sgd") {
  Setting setting{method, "servers:" + options, optimiser};
  setting.clip = 0;
  return setting;
}

/// Parameters after this number of steps.
std::vector<float> train(Transport& comm, const Setting& setting, index_t steps = 4) {
  StrategyRig rig(setting, comm);
  for (index_t step = 0; step < steps; ++step) rig.step(step);
  return rig.parameters();
}

TEST(WorkerClocks, NobodyGoesFurtherAheadThanTheBound) {
  for (const index_t bound : {0, 1, 3}) {
    constexpr int workers = 3;
    WorkerClocks clocks(workers, bound);
    data::CounterRng rng(5, static_cast<std::uint64_t>(bound));
    index_t most = 0;
    for (int event = 0; event < 2000; ++event) {
      const int worker = static_cast<int>(rng.below(workers));
      if (!clocks.may_go(worker)) continue;  // it waits for its answer
      clocks.tick(worker);
      most = std::max(most, clocks.gap());
    }
    EXPECT_EQ(most, bound + 1);
    EXPECT_GT(*std::min_element(clocks.values().begin(), clocks.values().end()), 200) << "they got stuck";
  }
  WorkerClocks free(2, WorkerClocks::unbounded);
  for (int i = 0; i < 100; ++i) free.tick(1);
  EXPECT_TRUE(free.may_go(1));
  EXPECT_EQ(free.gap(), 100);
}

TEST(ServerKeys, CoverTheModelOnceInPartsOfAboutEqualBytes) {
  for (const char* method : {"fp32", "qsgd", "top_k", "top_k:granularity=tensor", "powersgd"}) {
    const MethodSpec spec = parse_method(method);
    const Layout model = small_model();
    for (const int servers : {1, 2, 3, 7, 20}) {
      const auto keys = server_keys(spec, model, servers);
      ASSERT_EQ(std::ssize(keys), servers);
      index_t next = 0;
      for (const Stripe& part : keys) {
        EXPECT_EQ(part.first, next) << method;
        next += part.count();
      }
      EXPECT_EQ(next, model.count()) << method;
    }
    if (spec.compressor->info().granule > 64) continue;  // a group of qsgd is as large as this model
    const auto two = server_keys(spec, model, 2);
    EXPECT_NEAR(static_cast<double>(two[0].count()), static_cast<double>(model.count()) / 2, 700) << method;
  }
}

TEST(Servers, TogetherTrainAsAnAllreduceDoes) {
  const auto comm = world();
  for (const char* optimiser : {"sgd", "adamw"}) {
    Setting dense{"fp32", "overlapped", optimiser};
    dense.clip = 0;
    const auto expected = train(*comm, dense);
    const auto found = train(*comm, with_servers("fp32", "mode=sync", optimiser));
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 2e-6) << i;
    if (comm->size() <= 2) {
      EXPECT_EQ(found, expected) << "a sum of two does not depend on its order";
    }
  }
}

TEST(Servers, OneIsAsGoodAsMany) {
  const auto comm = world();
  for (const char* method : {"fp32", "bf16", "fp16"}) {
    const auto one = train(*comm, with_servers(method, "servers=1"));
    EXPECT_EQ(one, train(*comm, with_servers(method, "servers=0"))) << method;
    EXPECT_TRUE(gradcomp::test::same_bits(*comm, one)) << method;
  }
}

TEST(Servers, ReplicasAgreeUnderEveryMethodThatTheyTake) {
  const auto comm = world();
  int taken = 0;
  for (const Entry& entry : all_entries()) {
    if (!entry.info.travels) continue;  // its replicas need not agree
    for (const char* options : {"mode=sync", "mode=sync:servers=1:answers=coded"}) {
      const Setting setting = with_servers(entry.info.name, options);
      std::string refused;
      try {
        StrategyRig rig(setting, *comm);
        for (index_t step = 0; step < 3; ++step) rig.step(step);
        EXPECT_LT(rig.diverged(), 0) << setting.text();
        EXPECT_TRUE(gradcomp::test::same_bits(*comm, rig.parameters())) << setting.text();
        EXPECT_TRUE(gradcomp::test::same_bits(*comm, rig.agreed())) << setting.text();
        ++taken;
      } catch (const AgreedError& error) {
        refused = error.what();
      }
      if (refused.empty()) continue;
      EXPECT_THAT(refused, testing::HasSubstr("'" + entry.info.name + "'"));
      EXPECT_THAT(refused, testing::HasSubstr("strategy servers: "));
    }
  }
  EXPECT_GT(taken, 30);
}

TEST(Servers, LeaveAMethodAloneThatSendsNothing) {
  const auto comm = world();
  Setting plain{"no_exchange", "overlapped"};
  plain.clip = 0;
  EXPECT_EQ(train(*comm, with_servers("no_exchange", "mode=async")), train(*comm, plain));
}

TEST(Servers, OfOneWorkerAreTheSameInEveryMode) {
  const auto comm = world();
  if (comm->size() > 1) return;
  for (const char* method : {"fp32", "top_k:ratio=0.05", "qsgd:bits=4:feedback=residual"}) {
    const auto together = train(*comm, with_servers(method, "mode=sync"));
    for (const char* options : {"mode=async", "mode=bounded:bound=0", "mode=async:damped=on"}) {
      EXPECT_EQ(train(*comm, with_servers(method, options)), together) << method << " " << options;
    }
  }
}

/// With plain SGD and gradients that do not depend on the parameters, the result shows whether every push is applied
/// once, in whatever order.
TEST(Servers, ApplyEveryPushOnceWhateverTheOrder) {
  const auto comm = world();
  for (const char* options : {"mode=async", "mode=bounded:bound=0", "mode=bounded:bound=2", "mode=async:servers=1"}) {
    Setting setting = with_servers("fp32", options);
    setting.momentum = setting.weight_decay = 0;
    setting.drains = false;
    StrategyRig rig(setting, *comm);
    const auto start = rig.parameters();
    std::vector<double> expected(start.begin(), start.end());
    constexpr index_t steps = 6;
    for (index_t step = 0; step < steps; ++step) {
      rig.step(step);
      if (step % comm->size() == comm->rank()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      for (int r = 0; r < comm->size(); ++r) {
        const auto g = gradient_values(std::ssize(start), r, static_cast<int>(step));
        for (std::size_t i = 0; i < g.size(); ++i) expected[i] -= StrategyRig::rate(step) * g[i] / comm->size();
      }
    }
    rig.drain();
    const auto found = rig.agreed();
    EXPECT_TRUE(gradcomp::test::same_bits(*comm, found)) << options;
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << options << " " << i;
  }
}

TEST(Servers, GoOnForThoseThatAreStillInTheirSteps) {
  const auto comm = world();
  Setting setting = with_servers("fp32", "mode=async");
  setting.drains = false;
  StrategyRig rig(setting, *comm);
  for (index_t block = 0; block < 3; ++block) {
    for (index_t step = 0; step < 4; ++step) {
      if (comm->rank() == block % comm->size()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      rig.step(4 * block + step);
    }
    rig.drain();  // the other ranks have ended some steps earlier
    EXPECT_TRUE(gradcomp::test::same_bits(*comm, rig.agreed()));
  }
}

TEST(Servers, BoundedWorkersSeeAllButTheNewestOfTheOthers) {
  const auto comm = world();
  if (comm->size() == 1) return;
  Setting setting = with_servers("fp32", "mode=bounded:bound=1");
  setting.drains = false;
  StrategyRig rig(setting, *comm);
  std::vector<index_t> staleness;
  for (index_t step = 0; step < 12; ++step) {
    if (comm->rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    const auto own = rig.step(step).staleness;
    staleness.insert(staleness.end(), own.begin(), own.end());
  }
  rig.drain();
  ASSERT_FALSE(staleness.empty());
  // Between the answer to a worker and its next push, each other worker can push at most bound + 2 times.
  EXPECT_LE(*std::max_element(staleness.begin(), staleness.end()), 3 * (comm->size() - 1));
}

TEST(Servers, CodedAnswersCatchUpWithTheServer) {
  const auto comm = world();
  Setting setting = with_servers("int8_block", "mode=sync:answers=coded");
  setting.momentum = setting.weight_decay = 0;
  StrategyRig rig(setting, *comm);
  rig.step(0);
  EXPECT_NE(rig.parameters(), rig.agreed()) << "the change was sent in 8 bits";
  for (index_t step = 1; step < 8; ++step) rig.rest(step);
  const auto held = rig.parameters(), exact = rig.agreed();
  for (std::size_t i = 0; i < held.size(); ++i) EXPECT_NEAR(held[i], exact[i], 1e-6) << i;
}

TEST(Servers, SendEachParameterUpAndDownOnce) {
  const auto comm = world();
  StrategyRig rig(with_servers("fp32", "mode=sync"), *comm);
  const StepReport report = rig.step(0);
  const double n = static_cast<double>(rig.parameters().size()), others = comm->size() - 1;
  // A rank sends its gradients to the servers of other ranks, and its parameters to their workers, with headers.
  EXPECT_NEAR(static_cast<double>(report.wire_bytes), 4 * n * 2 * others / comm->size() + 128 * others, 8 * 64);
}

/// The cosine of the angle between what `after` - `before` is and what the gradients of all ranks in this step ask for.
double cosine_with_descent(const std::vector<float>& before, const std::vector<float>& after, int ranks, int step) {
  std::vector<double> descent(before.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const auto gradient = gradient_values(static_cast<index_t>(before.size()), rank, step);
    for (std::size_t i = 0; i < descent.size(); ++i) descent[i] -= gradient[i];
  }
  double product = 0, moved = 0, asked = 0;
  for (std::size_t i = 0; i < descent.size(); ++i) {
    const double change = static_cast<double>(after[i]) - before[i];
    product += change * descent[i];
    moved += change * change;
    asked += descent[i] * descent[i];
  }
  return product / std::sqrt(moved * asked);
}

TEST(Servers, DecodeWithTheSeedTheStepAndTheRankOfTheSender) {
  const auto comm = world();
  for (const char* method : {"rotated:bits=8", "random_k:ratio=0.9:seed=private"}) {
    for (const char* options : {"mode=sync", "mode=async", "mode=sync:answers=coded", "mode=async:answers=coded"}) {
      Setting setting = with_servers(method, options);
      setting.weight_decay = 0;
      StrategyRig rig(setting, *comm);
      const auto before = rig.parameters();
      rig.step(3);
      EXPECT_GT(cosine_with_descent(before, rig.agreed(), comm->size(), 3), 0.8) << setting.text();
      const bool answers_hold_all_gradients = std::string(options).starts_with("mode=sync");
      if (!answers_hold_all_gradients) continue;
      EXPECT_GT(cosine_with_descent(before, rig.parameters(), comm->size(), 3), 0.7) << setting.text();
    }
  }
}

TEST(Servers, GoOnFromTheirMemories) {
  const auto comm = world();
  for (const char* method : {"fp32", "top_k:ratio=0.05", "qsgd:bits=4:feedback=residual", "dgc:ratio=0.05"}) {
    for (const char* options : {"mode=sync", "mode=sync:servers=1:answers=coded"}) {
      if (method == std::string("fp32") && std::string(options).ends_with("coded")) continue;
      const Setting setting = with_servers(method, options);
      StrategyRig whole(setting, *comm), fresh(setting, *comm);
      for (index_t step = 0; step < 3; ++step) whole.step(step);
      fresh.take(whole.everything());
      for (index_t step = 3; step < 6; ++step) {
        whole.step(step);
        fresh.step(step);
        EXPECT_EQ(differences(whole.everything(), fresh.everything()), std::vector<std::string>()) << setting.text();
      }
    }
  }
}

TEST(Servers, AreRefusedWhereTheyCannotWork) {
  const auto comm = world();
  const auto error = [&](Setting setting) -> std::string {
    try {
      StrategyRig rig(setting, *comm);
    } catch (const AgreedError& caught) {
      return caught.what();
    }
    return "";
  };
  EXPECT_THAT(error(with_servers("powersgd", "mode=sync")), testing::HasSubstr("one message of bytes"));
  EXPECT_THAT(error(with_servers("top_k:feedback=ef21", "mode=sync")), testing::HasSubstr("allowed: none, residual"));
  EXPECT_THAT(error(with_servers("signum", "mode=sync")), testing::HasSubstr("votes"));
  EXPECT_THAT(error(with_servers("fp32", "answers=coded")), testing::HasSubstr("allowed: answers=dense"));
  EXPECT_THAT(error(with_servers("fp32", "servers=99")), testing::HasSubstr(fmt::format("{} ranks", comm->size())));
  Setting clipped = with_servers("fp32", "mode=sync");
  clipped.clip = 1;
  EXPECT_THAT(error(clipped), testing::HasSubstr("allowed: --clip 0"));
}

/// Splits `comm` into a job of its first ranks and a job of the others.
std::unique_ptr<Transport> workers_of(Transport& comm, int workers) {
  return comm.split(comm.rank() < workers ? 0 : 1, comm.rank());
}

TEST(DedicatedServers, TrainAsTheWorkersAloneDo) {
  const auto comm = world();
  if (comm->size() == 1) return;
  const int workers = comm->size() - 1;
  const auto alone = workers_of(*comm, workers);
  for (const auto& [method, options] :
       std::vector<std::pair<std::string, std::string>>{{"fp32", "servers=1"},
                                                        {"bf16", "servers=1"},
                                                        {"top_k:ratio=0.05", "servers=1"},
                                                        {"qsgd:bits=4:feedback=residual", "servers=1"},
                                                        {"qsgd:bits=4:feedback=residual", "servers=1:answers=coded"}}) {
    const auto expected = train(*alone, with_servers(method, options));
    StrategyRig rig(with_servers(method, options + ":dedicated=on"), *comm);
    for (index_t step = 0; step < 4; ++step) rig.step(step);
    EXPECT_TRUE(gradcomp::test::same_bits(*comm, rig.agreed())) << method << ": on the server, too";
    if (comm->rank() < workers) {
      EXPECT_EQ(rig.parameters(), expected) << method << " " << options;
    }
  }
}

TEST(DedicatedServers, ApplyEveryPushOnceInEveryMode) {
  const auto comm = world();
  const int ranks = comm->size();
  if (ranks == 1) return;
  for (const int servers : {1, ranks - 1}) {
    for (const std::string mode : {"sync", "async", "bounded:bound=0", "bounded:bound=2"}) {
      Setting setting = with_servers("fp32", fmt::format("dedicated=on:servers={}:mode={}", servers, mode));
      setting.momentum = setting.weight_decay = 0;
      setting.drains = false;
      StrategyRig rig(setting, *comm);
      const auto start = rig.agreed();
      std::vector<double> expected(start.begin(), start.end());
      const int workers = ranks - servers;
      index_t pushes = 0;
      for (index_t step = 0; step < 6; ++step) {
        pushes += std::ssize(rig.step(step).staleness);
        if (step % ranks == comm->rank()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (step == 2) rig.drain();  // also possible between steps
        for (int r = 0; r < workers; ++r) {
          const auto g = gradient_values(std::ssize(start), r, static_cast<int>(step));
          for (std::size_t i = 0; i < g.size(); ++i) expected[i] -= StrategyRig::rate(step) * g[i] / workers;
        }
      }
      rig.drain();
      EXPECT_EQ(pushes, comm->rank() < workers ? 0 : 6 * workers) << setting.text();
      const auto found = rig.agreed();
      EXPECT_TRUE(gradcomp::test::same_bits(*comm, found)) << setting.text();
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << setting.text();
    }
  }
}

TEST(DedicatedServers, GoOnFromTheirMemories) {
  const auto comm = world();
  if (comm->size() == 1) return;
  const Setting setting = with_servers("qsgd:bits=4:feedback=residual", "dedicated=on:servers=1:answers=coded");
  StrategyRig whole(setting, *comm), fresh(setting, *comm);
  for (index_t step = 0; step < 3; ++step) whole.step(step);
  fresh.take(whole.everything());
  for (index_t step = 3; step < 6; ++step) {
    whole.step(step);
    fresh.step(step);
    EXPECT_EQ(differences(whole.everything(), fresh.everything()), std::vector<std::string>());
  }
}

/// Compares a job of all ranks, one of which only serves, with a job of the other ranks alone.
TEST(DedicatedServers, TrainerGivesTheSamplesToTheWorkersAlone) {
  Rig rig;
  const int ranks = rig.control->size(), workers = ranks - 1;
  if (ranks == 1) return;
  const std::string method = "fp32:strategy=servers:strategy.servers=1";
  const auto found = rig.run(method + ":strategy.dedicated=on," + method +
                             ":strategy.dedicated=on:strategy.mode=async:label=async,fp32");
  Rig alone;
  alone.transport = workers_of(*alone.transport, workers);
  alone.control = workers_of(*alone.control, workers);
  const auto expected = alone.run(method);
  EXPECT_EQ(found[0].workers, workers);
  EXPECT_EQ(found[0].ranks, ranks);
  EXPECT_EQ(found[0].samples_per_step, rig.options.batch * static_cast<double>(workers));
  EXPECT_EQ(found[2].workers, ranks);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(found[static_cast<std::size_t>(i)].replicas_equal) << i;
  EXPECT_TRUE(found[1].staleness);
  if (rig.control->rank() == workers) return;
  EXPECT_EQ(found[0].parameters_hash, expected[0].parameters_hash);
  EXPECT_EQ(found[0].test_quality, expected[0].test_quality) << "servers evaluate nothing";
  EXPECT_EQ(found[0].curve.loss, expected[0].curve.loss);
}

TEST(DedicatedServers, AreRefusedWhereNoneWouldTrainOrServe) {
  const auto comm = world();
  for (const int servers : {0, comm->size()}) {
    try {
      StrategyRig rig(with_servers("fp32", fmt::format("dedicated=on:servers={}", servers)), *comm);
      FAIL() << servers;
    } catch (const AgreedError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("dedicated=on"));
      EXPECT_THAT(error.what(), testing::HasSubstr("allowed: "));
    }
  }
  if (comm->size() == 1) return;
  Rig rig;
  try {
    rig.run("fp32:strategy=servers:strategy.servers=1:strategy.dedicated=on:sampler=mercury");
    FAIL();
  } catch (const AgreedError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("with sampler mercury every rank must train"));
  }
}

TEST(Servers, TrainBesideOtherStrategies) {
  Rig rig;
  const auto results = rig.run(
      "fp32,fp32:strategy=servers:label=sync,top_k:ratio=0.1:strategy=servers:strategy.mode=async,"
      "qsgd:strategy=servers:strategy.mode=bounded:strategy.bound=1");
  EXPECT_EQ(results[0].strategy, "overlapped");
  EXPECT_FALSE(results[0].staleness);
  for (std::size_t i = 1; i < results.size(); ++i) {
    EXPECT_EQ(results[i].strategy, "servers");
    EXPECT_TRUE(results[i].replicas_equal) << i;
    ASSERT_TRUE(results[i].staleness) << i;
    EXPECT_EQ(results[i].step_ms.size(), results[0].step_ms.size()) << i;
  }
  if (rig.control->size() <= 2) {
    EXPECT_EQ(results[0].parameters_hash, results[1].parameters_hash);
  }
  EXPECT_EQ(results[1].staleness->max, 0);
  EXPECT_EQ(results[1].staleness->mean, 0);
  for (const auto& r : {results[2], results[3]}) EXPECT_LE(r.staleness->mean, r.staleness->max);
  EXPECT_LE(results[3].staleness->max, 3 * (rig.control->size() - 1));
  EXPECT_TRUE(results[1].stage_ms.contains("waiting"));
  EXPECT_FALSE(results[2].stage_ms.contains("waiting"));
}

}  // namespace servers_test
}  // namespace gradcomp::train::test
