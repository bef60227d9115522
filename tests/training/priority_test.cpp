// Priority: the order in which buckets travel, and whether parameters are current when they are used.
#include <atomic>
#include <set>
#include <thread>

#include "gradcomp/strategy/detail/credit_window.hpp"
#include "gradcomp/strategy/detail/first_use.hpp"
#include "gradcomp/strategy/detail/transfer_order.hpp"
#include "training/logged.hpp"
#include "training/strategy_rig.hpp"
#include "training/watched_model.hpp"

namespace gradcomp::train::test {
namespace priority_test {

using Order = std::vector<std::size_t>;

TEST(CreditWindow, GivesTheMostUrgentAndNeverMoreThanItsCredits) {
  data::CounterRng rng(3, 0);
  for (const index_t credits : {1, 2, 5}) {
    constexpr std::size_t buckets = 40;
    CreditWindow window(buckets, credits);
    Order place(buckets);  // the last one goes first
    for (std::size_t b = 0; b < buckets; ++b) place[b] = buckets - 1 - b;
    window.order(place);
    std::size_t complete = 0;
    index_t under_way = 0, most = 0;
    Order waiting, taken;
    while (taken.size() < buckets) {
      const auto event = rng.below(5);
      if (event <= 1 && complete < buckets) {
        window.add(complete);
        waiting.push_back(complete++);
      } else if (event == 2 && under_way > 0) {
        window.give_back();
        --under_way;
      } else if (const auto next = window.take()) {
        EXPECT_EQ(*next, *std::max_element(waiting.begin(), waiting.end()));
        std::erase(waiting, *next);
        taken.push_back(*next);
        most = std::max(most, ++under_way);
      } else {
        EXPECT_TRUE(waiting.empty() || under_way == credits);
      }
    }
    EXPECT_EQ(most, credits);
    EXPECT_EQ(std::set<std::size_t>(taken.begin(), taken.end()).size(), buckets);
  }
}

TEST(TransferOrder, InALineIsThatOfFirstUse) {
  const TransferGraph line = line_of({{0}, {1}, {1, 2}, {0, 3}}, {4, 1, 9, 2});
  EXPECT_EQ(tic_order(line), (Order{0, 1, 2, 3}));
  EXPECT_EQ(tac_order(line), (Order{0, 1, 2, 3}));
  EXPECT_EQ(tac_order(line_of({}, {})), Order());
}

/// Two branches that meet. Transfer 0 feeds a short operation, 1 a long one, and 2 the end of the first branch.
TEST(TransferOrder, OfBranchesFollowsCountsOrTimes) {
  TransferGraph graph;
  graph.operations = {{1, {0}, {}}, {10, {1}, {}}, {1, {2}, {0}}, {1, {}, {1, 2}}};
  graph.transfer_seconds = {5, 5, 5};
  EXPECT_EQ(tac_order(graph), (Order{1, 0, 2})) << "the long operation hides the other transfers";
  // By counts alone: one operation waits for {0, 2}, and only the last one, which waits for all three, needs 1.
  EXPECT_EQ(tic_order(graph), (Order{0, 2, 1}));
}

TEST(FirstUse, KnowsWhereALayerEnds) {
  FirstUse layers;
  for (const std::size_t segment : {0UL, 2UL, 5UL, 0UL}) layers.note(segment);  // the first one is used again
  const std::vector<BucketRange> buckets = {{4, 7, 40, 30}, {1, 4, 10, 30}, {0, 1, 0, 10}};
  EXPECT_EQ(layers.buckets_of_layers(buckets), (std::vector<Order>{{1, 2}, {0, 1}, {0}}));
}

std::string with_priority(const std::string& method, const std::string& options) {
  return method + ":strategy=priority:strategy.bucket_kib=40" + options;
}

/// Every way in which buckets travel: collective calls, messages, one round and several rounds.
TEST(Priority, TrainsBitForBitAsOverlappedWithEqualBuckets) {
  const auto buckets = static_cast<double>(cut_buckets(Rig().model->layout(), 40 * 1024).size());
  ASSERT_GT(buckets, 10);
  for (const char* method : {"fp32", "fp32:reducer=ring", "fp16:reducer=recursive_doubling", "top_k:ratio=0.02",
                             "powersgd:rank=2", "qsgd:bits=4:reducer=requantising_ring", "top_k:reducer=gtop_k",
                             "top_k:reducer=ok_topk", "ef_sign:reducer=two_phase", "signum"}) {
    Rig rig;
    std::string list = std::string(method) + ":strategy.bucket_kib=40";
    for (const char* options : {"", ":strategy.credit=1", ":strategy.credit=100:strategy.order=tac",
                                ":strategy.order=tic", ":strategy.order=backward:strategy.credit=1"}) {
      list += "," + with_priority(method, options);
    }
    const auto results = rig.run(list);
    for (const MethodResult& result : results) {
      const std::string& text = result.contender.spec.text;
      EXPECT_EQ(result.parameters_hash, results[0].parameters_hash) << text;
      EXPECT_EQ(result.payload_bytes, results[0].payload_bytes) << text;
      EXPECT_EQ(result.density_ratio, results[0].density_ratio) << text;
      EXPECT_FALSE(result.diverged_at) << text;
      EXPECT_TRUE(result.replicas_equal) << text;
      const double announcements = result.wire_bytes - results[0].wire_bytes;  // 8 bytes each, sent to all other ranks
      EXPECT_GE(announcements, 0) << text;
      EXPECT_LE(announcements, 8 * (rig.control->size() - 1) * (rig.control->size() + 3) * buckets) << text;
    }
  }
}

/// Share of the parameters that step 0 had updated when the first layer of step 1 began. `held`: the first bucket
/// travels once backward is over, and all after the second one once that layer has begun.
double updated_at_the_first_layer(const std::string& order, bool held) {
  Rig rig;
  std::atomic<bool> holds = false, backward_over = false, begun = false;
  rig.transport = std::make_unique<Logged>(std::move(rig.transport), std::make_shared<Events>(),
                                           [&, bucket = 0](const Call& call) mutable {
                                             if (!holds || !std::holds_alternative<AllReduce>(call) || ++bucket == 2)
                                               return;
                                             const std::atomic<bool>& until = bucket == 1 ? backward_over : begun;
                                             for (int ms = 0; ms < 60000 && !until; ++ms)
                                               std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                           });
  std::vector<std::vector<float>> seen;  // parameters at the first layer of each step
  WatchedModel& model = watch(rig);
  model.on_backward_end = [&] { backward_over = true; };
  model.on_parameters = [&](std::size_t segment, const Span<const float>& parameters) {
    if (segment > 0) return;
    seen.emplace_back(parameters.size());
    begun = seen.size() == 2;
    Kokkos::deep_copy(HostSpan<float>(seen.back().data(), parameters.size()), parameters);
  };
  const std::string list = "fp32:strategy=priority:strategy.bucket_kib=100:strategy.credit=1:strategy.order=" + order;
  const Contender contender = rig.parse(list)[0];
  Trainer trainer(rig.job(), contender);
  holds = held;
  for (int step = 0; step < 2; ++step) trainer.step(Exec(), false);
  trainer.meet(Exec());
  require(seen.size() == 2, "{} first layers", seen.size());
  EXPECT_NE(seen[0][0], seen[1][0]) << "the layer computed with old parameters";
  std::size_t updated = 0;
  for (std::size_t i = 0; i < seen[0].size(); ++i) updated += seen[0][i] != seen[1][i] ? 1 : 0;
  return static_cast<double>(updated) / static_cast<double>(seen[0].size());
}

TEST(Priority, UpdatesTheFirstLayersBeforeOthersHaveArrived) {
  if (world()->size() == 1) return;
  EXPECT_LT(updated_at_the_first_layer("forward", true), 0.5);
  EXPECT_GT(updated_at_the_first_layer("backward", false), 0.9) << "what the first layers need comes last";
}

Setting with_rule(const std::string& method, const std::string& options = "") {
  Setting setting{method, "priority" + options};
  setting.clip = 0;
  return setting;
}

TEST(Priority, GoesOnFromItsMemories) {
  const auto comm = world();
  for (const char* method : {"fp32", "top_k:ratio=0.05", "dgc:ratio=0.05", "powersgd:rank=2", "signum"}) {
    StrategyRig whole(with_rule(method), *comm), fresh(with_rule(method), *comm);
    for (index_t step = 0; step < 3; ++step) whole.step(step);
    fresh.take(whole.everything());
    for (index_t step = 3; step < 6; ++step) {
      const StepReport a = whole.step(step), b = fresh.step(step);
      EXPECT_EQ(differences(whole.everything(), fresh.everything()), std::vector<std::string>()) << method;
      EXPECT_EQ(a.wire_bytes, b.wire_bytes) << method;
    }
  }
}

TEST(Priority, RefusesToClipByTheWholeNorm) {
  const auto comm = world();
  Setting setting = with_rule("fp32");
  setting.clip = 1;
  try {
    const StrategyRig rig(setting, *comm);
    ADD_FAILURE() << "it was taken";
  } catch (const AgreedError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("allowed: --clip 0"));
  }
}

}  // namespace priority_test
}  // namespace gradcomp::train::test
