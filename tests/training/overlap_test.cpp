// When exchanges begin, checked by the order of the events of backward and of a transport that records its calls.
#include "training/watched_model.hpp"
#include "unit/comm/fake_transport.hpp"

namespace gradcomp::train::test {
namespace overlap_test {

using gradcomp::test::FakeTransport;

/// The events of a step of `method`: "layer S", "ready S", "allreduce N", "backward ends".
struct Recorded {
  std::vector<std::string> events;
  std::vector<BucketRange> buckets;

  /// Position of an event.
  std::ptrdiff_t at(const std::string& event) const {
    const auto found = std::find(events.begin(), events.end(), event);
    EXPECT_NE(found, events.end()) << event;
    return found - events.begin();
  }
  std::ptrdiff_t exchange(const BucketRange& bucket) const { return at(fmt::format("allreduce {}", bucket.count)); }
  std::ptrdiff_t backward_end() const { return at("backward ends"); }
};

Recorded record(const std::string& method, index_t steps = 1) {
  Rig rig;
  rig.options.bucket_kib = 0;
  rig.options.steps = rig.options.block = rig.options.evaluate_every = steps;
  auto log = std::make_shared<FakeTransport::Log>();
  log->overlaps = true;  // so that this thread calls start(), in order with the other events
  rig.transport = std::make_unique<FakeTransport>(rig.control->size(), rig.control->rank(), log);
  WatchedModel& model = watch(rig);
  model.on_layer = [log](std::size_t s) { log->calls.push_back(fmt::format("layer {}", s)); };
  model.on_ready = [log](std::size_t s, const Span<float>&) { log->calls.push_back(fmt::format("ready {}", s)); };
  model.on_backward_end = [log] { log->calls.push_back("backward ends"); };
  const Contender contender = rig.parse(method)[0];
  Trainer trainer(rig.job(), contender);
  log->calls.clear();  // removes the calls of the handshake
  for (index_t step = 0; step < steps; ++step) trainer.step(Exec(), false);
  return {log->calls, cut_buckets(model.layout())};
}

TEST(Overlap, ABucketTravelsAsSoonAsBackwardHasCompletedIt) {
  const Recorded step = record("fp32");
  ASSERT_GE(step.buckets.size(), 4U);
  std::ptrdiff_t before = 0;
  for (const BucketRange& bucket : step.buckets) {  // from the last layers to the first
    const std::ptrdiff_t exchange = step.exchange(bucket);
    EXPECT_GT(exchange, before);
    before = exchange;
    // It follows the first call of ready() that completes it, without another such call between them.
    std::ptrdiff_t ready = exchange;
    while (ready > 0 && !step.events[static_cast<std::size_t>(ready)].starts_with("ready")) --ready;
    const auto first = std::stoul(step.events[static_cast<std::size_t>(ready)].substr(6));
    EXPECT_LE(first, bucket.first);
    EXPECT_GT(ready, 0);
    std::ptrdiff_t earlier = ready - 1;
    while (earlier > 0 && !step.events[static_cast<std::size_t>(earlier)].starts_with("ready")) --earlier;
    if (earlier > 0) {
      EXPECT_GT(std::stoul(step.events[static_cast<std::size_t>(earlier)].substr(6)), bucket.first) << "it was late";
    }
  }
  EXPECT_LT(before, step.backward_end());
  for (std::size_t b = 0; b + 1 < step.buckets.size(); ++b) {
    EXPECT_LT(step.exchange(step.buckets[b]), step.at("ready 0")) << "backward was over";
  }
}

TEST(Overlap, SynchronousWaitsForTheWholeOfBackward) {
  for (const char* method : {"fp32:strategy=synchronous", "fp32:strategy=local:strategy.period=2"}) {
    const Recorded step = record(method, 2);
    std::ptrdiff_t before = step.backward_end();
    for (const BucketRange& bucket : step.buckets) {
      EXPECT_GT(step.exchange(bucket), before) << method;
      before = step.exchange(bucket);
    }
  }
}

TEST(Overlap, AccumulatedGradientsTravelInTheLastBackwardOfTheirGroup) {
  for (const bool overlap : {true, false}) {
    const Recorded group =
        record(fmt::format("fp32:strategy=accumulate:strategy.every=2:strategy.overlap={}", overlap ? "on" : "off"), 2);
    const auto first_end = group.backward_end();
    const auto second_end =
        std::find(group.events.begin() + first_end + 1, group.events.end(), "backward ends") - group.events.begin();
    for (const BucketRange& bucket : group.buckets) {
      EXPECT_GT(group.exchange(bucket), first_end);
      EXPECT_EQ(group.exchange(bucket) < second_end, overlap);
      EXPECT_EQ(std::count(group.events.begin(), group.events.end(), fmt::format("allreduce {}", bucket.count)), 1);
    }
  }
}

TEST(Overlap, BucketsAreTheSameOnAllRanksAndOfTheSizeThatWasAskedFor) {
  const auto sent = [](const Recorded& step) {
    std::string all;
    for (const std::string& event : step.events) {
      if (event.starts_with("allreduce")) all += event + ";";
    }
    return all;
  };
  const auto comm = gradcomp::test::world();
  const std::string own = sent(record("fp32:strategy.bucket_kib=200")), automatic = sent(record("fp32"));
  for (const std::string& text : {own, automatic}) {
    for (const std::string& other : gather_texts(*comm, text)) EXPECT_EQ(other, text);
  }
  std::string expected;
  for (const BucketRange& b : cut_buckets(Rig().model->layout(), 200 * 1024)) {
    expected += fmt::format("allreduce {};", b.count);
  }
  EXPECT_EQ(own, expected);
  EXPECT_NE(own, automatic);
}

}  // namespace overlap_test
}  // namespace gradcomp::train::test
