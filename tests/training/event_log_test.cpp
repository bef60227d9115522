// Bounds that strategies promise, checked by the messages that they really sent: credits, and the clocks of workers.
#include <algorithm>
#include <map>
#include <thread>

#include "gradcomp/strategy/detail/push_pull.hpp"
#include "training/logged.hpp"
#include "training/strategy_rig.hpp"

namespace gradcomp::train::test {
namespace event_log_test {

using What = Event::What;

void sleep_ms(int time) { std::this_thread::sleep_for(std::chrono::milliseconds(time)); }

/// The largest number of buckets that were under way at the same time. A bucket is under way from its first message to
/// the end of its last one. `ends`: number of messages of a bucket that end in a step; `buckets`: number of buckets, to
/// which larger tags do not belong.
index_t max_under_way(const Events& log, std::size_t ends, int buckets) {
  std::map<int, std::size_t> left;
  index_t most = 0;
  for (const Event& event : log) {
    const int bucket = event.tag / tags_per_reducer;
    if (event.what == What::mark || bucket >= buckets) continue;
    if (event.what == What::sent || event.what == What::receive) {
      left.emplace(bucket, ends);
    } else if (--left.at(bucket) == 0) {
      left.erase(bucket);
    }
    most = std::max(most, static_cast<index_t>(left.size()));
  }
  EXPECT_TRUE(left.empty()) << "a bucket did not arrive";
  return most;
}

/// Rank 0 decides what starts. Its peers are late, so that it has to wait with several buckets.
TEST(EventLogs, NoMoreBucketsAreUnderWayThanCredits) {
  const auto plain = world();
  if (plain->size() == 1) return;
  const auto buckets = static_cast<int>(cut_buckets(small_model(), 1024).size());
  ASSERT_GT(buckets, 4);
  for (const index_t credits : {1, 2, 3, 1000}) {
    const auto log = std::make_shared<Events>();
    Logged comm(world(), log);
    Setting setting{"fp32:reducer=ring", fmt::format("priority:bucket_kib=1:credit={}", credits)};
    setting.clip = 0;
    StrategyRig rig(setting, comm);
    const auto hops = static_cast<std::size_t>(2 * (comm.size() - 1));  // each sends and receives
    const index_t wanted = std::min<index_t>(credits, 2);
    index_t most = 0;
    // Beside a load rank 0 may be as late as its peers, so there are as many steps as the test needs.
    for (index_t step = 0; step < 3 || (step < 100 && most < wanted); ++step) {
      gradcomp::barrier(*plain);
      if (comm.rank() != 0) sleep_ms(20);
      rig.step(step);
      most = comm.rank() == 0 ? max_under_way(*log, 2 * hops, buckets) : 0;
      most = sum_over_ranks(*plain, std::vector{most})[0];
    }
    EXPECT_LE(most, credits);
    EXPECT_GE(most, wanted) << credits << ": the test did not reach the bound";
  }
}

/// The largest number of steps by which a worker on another rank was ahead of the slowest one when rank 0, the only
/// server, let it continue. Marks are the beginnings of rank 0's own steps, whose pushes are not messages.
index_t max_ahead(const Events& log, int workers) {
  std::vector<index_t> pushes(static_cast<std::size_t>(workers), 0);
  index_t most = 0;
  for (const Event& event : log) {
    if (event.what == What::mark) ++pushes[0];
    if (event.what == What::received && event.tag == push_tag) ++pushes[static_cast<std::size_t>(event.peer)];
    if (event.what != What::sent || event.tag != answer_tag) continue;
    const index_t slowest = *std::min_element(pushes.begin(), pushes.end());
    most = std::max(most, pushes[static_cast<std::size_t>(event.peer)] - slowest);
  }
  return most;
}

/// `wanted`: rank 0 computes, and serves meanwhile, until another worker is so far ahead, at most for half a minute.
index_t max_ahead_of_a_slow_rank(const std::string& mode, index_t wanted) {
  const auto log = std::make_shared<Events>();
  Logged comm(world(), log);
  Setting setting{"fp32", "servers:servers=1:mode=" + mode};
  setting.clip = 0;
  setting.drains = false;
  StrategyRig rig(setting, comm);
  for (index_t step = 0; step < 8; ++step) {
    if (comm.rank() == 0) {
      for (int look = 0; look < 20 || (step == 1 && look < 20000 && max_ahead(*log, comm.size()) < wanted); ++look) {
        sleep_ms(1);
        rig.progress();
      }
    }
    log->push_back({});
    rig.step(step);
  }
  Events steps = *log;
  rig.drain();
  return comm.rank() == 0 ? max_ahead(steps, comm.size()) : 0;
}

TEST(EventLogs, WorkersGoOnWithinTheBound) {
  const auto comm = world();
  if (comm->size() == 1) return;
  for (const index_t bound : {0, 1, 3}) {
    const index_t found = max_ahead_of_a_slow_rank(fmt::format("bounded:bound={}", bound), bound);
    if (comm->rank() != 0) continue;
    EXPECT_EQ(found, bound) << "the other workers should run ahead";
  }
  const index_t unbounded = max_ahead_of_a_slow_rank("async", 4);
  if (comm->rank() == 0) {
    EXPECT_GT(unbounded, 3) << "without a bound, nothing holds workers back";
  }
  EXPECT_LE(max_ahead_of_a_slow_rank("sync", 0), 0);
}

}  // namespace event_log_test
}  // namespace gradcomp::train::test
