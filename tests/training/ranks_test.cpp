// Every strategy on any number of ranks (1 to 8, also odd numbers; tests/training/CMakeLists.txt). It must not
// deadlock, in whatever order ranks are ready, all ranks must have equal parameters, and every parameter must be sent
// once.
#include "gradcomp/strategy/detail/server_keys.hpp"
#include "training/any_ranks.hpp"

namespace gradcomp::train::test {
namespace ranks_test {

/// Every way in which buckets travel: collective calls, messages, stripes, several rounds.
const char* const methods[] = {"fp32",
                               "fp32:reducer=ring",
                               "top_k:ratio=0.05:reducer=gtop_k",
                               "top_k:ratio=0.05:reducer=ok_topk",
                               "ef_sign:reducer=two_phase",
                               "powersgd:rank=2",
                               "fp16:reducer=recursive_doubling",
                               "bf16:reducer=tree",
                               "fp32:reducer=hierarchical:reducer.ranks_per_node=1",
                               "top_k:ratio=0.05",
                               "qsgd:bits=4:reducer=requantising_ring",
                               "signum"};

/// Whether the strategy takes the method. If it does, checks that all ranks end with the same parameters.
bool trains(const Setting& setting, Transport& comm) {
  try {
    StrategyRig rig(setting, comm);
    for (index_t step = 0; step < 2; ++step) {
      come_late(comm, step);
      rig.step(step);
    }
    rig.drain();
    EXPECT_LT(rig.diverged(), 0) << setting.text();
    EXPECT_TRUE(gradcomp::test::same_bits(comm, rig.agreed())) << setting.text();
    return true;
  } catch (const AgreedError& refused) {
    EXPECT_THAT(refused.what(), testing::HasSubstr("strategy servers: ")) << setting.text();
    return false;
  }
}

TEST(AnyNumberOfRanks, EveryStrategyEndsItsStepsWithEqualParameters) {
  const auto comm = world();
  const std::size_t most =
      comm->size() > 4 ? 6 : std::size(methods);  // fewer methods, because many ranks share few cores
  for (const std::string& strategy : strategies_on(comm->size())) {
    for (std::size_t m = 0; m < most; ++m) {
      const Setting setting = without_forward(methods[m], strategy);
      const bool taken = trains(setting, *comm);
      EXPECT_TRUE(taken || setting.strategy.starts_with("servers")) << setting.text();
      EXPECT_TRUE(taken || m > 0) << setting.text() << ": every strategy takes fp32";
    }
  }
}

TEST(AnyNumberOfRanks, SomeServersMayHoldNothing) {
  const auto comm = world();
  const MethodSpec coarse = parse_method("qsgd:group=8192:granularity=bucket");
  index_t empty = 0;
  for (const Stripe& part : server_keys(coarse, small_model(), comm->size())) empty += part.count() == 0 ? 1 : 0;
  EXPECT_EQ(empty, comm->size() - 1) << "a group is larger than the model, so one server holds everything";
  for (const char* mode : {"sync", "async", "bounded", "sync:answers=coded"}) {
    Setting setting{coarse.text, std::string("servers:mode=") + mode};
    setting.clip = 0;
    EXPECT_TRUE(trains(setting, *comm)) << mode;
  }
}

/// If a bucket has fewer elements than there are ranks, some ranks own no part of it.
TEST(AnyNumberOfRanks, PartsOfABucketMayBeEmpty) {
  const auto comm = world();
  Layout layout;
  layout.add("one", {1}).add("two", {2}).add("matrix", {3, 2}).add("three", {3});
  const auto n = static_cast<std::size_t>(layout.count());
  for (const char* method : methods) {
    for (const bool overlapped : {true, false}) {
      ExchangeOptions options;
      options.overlapped = overlapped;
      options.bucket_bytes = 4;
      const auto exchange = make_exchange(parse_method(method), layout, *comm, options);
      EXPECT_EQ(exchange->buckets().size(), 4U);
      for (int step = 0; step < 3; ++step) {
        const Vector<float> own = to_device(gradient_values(layout.count(), comm->rank(), step)), mean("mean", n);
        exchange->begin(Exec(), own, mean, gradcomp::test::context_of(step, *comm), nullptr);
        exchange->finish(Exec());
        EXPECT_TRUE(gradcomp::test::same_bits(*comm, to_host(mean))) << method;
      }
      EXPECT_FALSE(exchange->diverged()) << method;
    }
  }
}

/// Payload bytes of one exchange of 32-bit values, summed over all ranks.
index_t bytes_of_a_round(const std::string& strategy, Transport& comm) {
  Setting setting{"fp32", strategy};
  setting.clip = 0;
  StrategyRig rig(setting, comm);
  index_t sum = 0;
  for (index_t step = 0; step < 2; ++step)
    sum += rig.step(step).payload_bytes;  // two steps, because the period may be two
  return gradcomp::sum_over_ranks(comm, {sum})[0];
}

TEST(AnyNumberOfRanks, EveryParameterIsExchangedOncePerRound) {
  const auto comm = world();
  const index_t all = 4 * small_model().count() * comm->size();
  for (const char* once : {"accumulate:every=2", "local:period=2", "local:period=2:outer_momentum=0.5"}) {
    EXPECT_EQ(bytes_of_a_round(once, *comm), all) << once;
  }
  for (const char* every : {"overlapped", "synchronous", "priority:bucket_kib=1", "local:period=2:inner=mean"}) {
    EXPECT_EQ(bytes_of_a_round(every, *comm), 2 * all) << every;
  }
  // Each worker sends its gradient, and the server of each parameter sends it to all workers in one answer.
  EXPECT_EQ(bytes_of_a_round("servers", *comm), 2 * (all + all / comm->size()));
  EXPECT_EQ(bytes_of_a_round("servers:servers=1", *comm), 2 * (all + all / comm->size()));
}

TEST(AnyNumberOfRanks, OneServerIsAsGoodAsMany) {
  const auto comm = world();
  const auto train = [&](const std::string& servers) {
    Setting setting{"fp32", "servers:servers=" + servers};
    setting.clip = 0;
    StrategyRig rig(setting, *comm);
    for (index_t step = 0; step < 3; ++step) rig.step(step);
    return rig.agreed();
  };
  const auto one = train("1");
  for (int servers = 2; servers <= comm->size(); ++servers) {
    EXPECT_EQ(train(std::to_string(servers)), one) << servers;
  }
  EXPECT_EQ(train("0"), one);
}

}  // namespace ranks_test
}  // namespace gradcomp::train::test
