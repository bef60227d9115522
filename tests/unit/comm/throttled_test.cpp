// What a call costs over an emulated link, by hand; and splits, messages and collective calls share a link. The tests
// of sharing use the times that the transport reports, which are lower bounds. There the bytes take far longer than the
// latency.
#include "gradcomp/comm/throttled.hpp"

#include <gtest/gtest.h>

#include "gradcomp/comm/detail/emulated_link.hpp"
#include "unit/comm/fake_transport.hpp"

namespace gradcomp {
namespace throttled_test {

using test::FakeTransport;

/// The cost of an allreduce of `count` floats over 8 ranks. The ring takes 14 steps, and its busiest rank sends all
/// bytes twice but for two neighbouring blocks. Doubling sends all bytes in each of 3 steps.
comm::Volume cost(const Link& link, index_t count) {
  return comm::faster_volume(link, AllReduce{nullptr, nullptr, count}, {}, 0, 8);
}

TEST(FasterVolume, OfAFewBytesHasTheFewestStepsAndOfManyTheLeastBytes) {
  const Link link = parse_link("1Gbit/s,50us");  // 125 bytes per us
  // 8 bytes. Ring: 14 x 50 us + 16 bytes = 700.128 us. Doubling: 3 x 50 us + 24 bytes = 150.192 us.
  EXPECT_EQ(cost(link, 2).steps, 3);
  EXPECT_EQ(cost(link, 2).busiest, 24);
  // 16 MB. Ring: 14 x 50 us + 28 MB = 224.7 ms. Doubling: 3 x 50 us + 48 MB = 384.15 ms.
  EXPECT_EQ(cost(link, 4'000'000).steps, 14);
  EXPECT_EQ(cost(link, 4'000'000).busiest, 28'000'000);
}

TEST(FasterVolume, ChangesAtTheSizeFromWhichTheRingIsNotSlower) {
  const Link link{8, 40};  // 1 byte per second, so that all times are exact
  // 87 floats: 348 bytes, one block of 40 and 7 of 44. Ring: 14 x 40 + 696 - 84 = 1172 s. Doubling: 3 x 40 + 3 x 348 =
  // 1164 s.
  EXPECT_EQ(cost(link, 87).steps, 3);
  EXPECT_EQ(cost(link, 87).busiest, 1044);
  // 88 floats: 352 bytes, blocks of 44. Ring: 560 + 704 - 88 = 1176 s. Doubling: 120 + 1056 = 1176 s.
  EXPECT_EQ(cost(link, 88).steps, 14);
  EXPECT_EQ(cost(link, 88).busiest, 616);
  // 89 floats: 356 bytes, one block of 48 and 7 of 44. Ring: 560 + 712 - 88 = 1184 s. Doubling: 120 + 1068 = 1188 s.
  EXPECT_EQ(cost(link, 89).steps, 14);
  EXPECT_EQ(cost(link, 89).busiest, 624);
}

TEST(FasterVolume, UsesTheSizesThatTheCallFound) {
  Found found;
  found.blocks.size = {10, 0, 7, 4};
  const comm::Volume v = comm::faster_volume(parse_link("1Gbit/s,50us"), AllGatherV{}, found, 0, 4);
  EXPECT_EQ(v.steps, 4) << "two gathers of 2 steps instead of 3";
  EXPECT_EQ(v.busiest, 3 * 8 + 21) << "three sizes, and all blocks but the smallest one";
}

// This time is exact, because the link is free and the ranks of the fake transport all start at the same time.
TEST(Throttled, EveryCallOfAGroupTakesTheTimeOfItsFasterAlgorithm) {
  const Link link = parse_link("8Gbit/s,10us");  // 1 byte per ns
  const auto comm = make_throttled(std::make_unique<FakeTransport>(8), link);
  std::vector<float> data(80000);
  // 8 bytes. Ring: 16 bytes in 14 steps, 140.016 us. Doubling: 24 bytes in 3 steps, 30.024 us.
  // 320 kB. Ring: 560 kB in 14 steps, 700 us. Doubling: 960 kB in 3 steps, 990 us.
  const std::array<Call, 2> group = {AllReduce{data.data(), data.data(), 2},
                                     AllReduce{data.data(), data.data(), 80000}};
  Completion calls = comm->start(Exec(), group);
  calls.wait();
  EXPECT_EQ(calls.times().finished - calls.times().started, comm::duration_of(link.seconds(560024, 17)));
}

/// A link with 1 byte per microsecond.
std::unique_ptr<Transport> slow(int ranks) {
  return make_throttled(std::make_unique<FakeTransport>(ranks), parse_link("8Mbit/s,10us"));
}

double between(Clock::time_point a, Clock::time_point b) { return std::chrono::duration<double>(b - a).count(); }

TEST(Throttled, ASplitSharesTheLink) {
  const auto comm = slow(2);
  const auto part = comm->split(0, 0), other = part->split(0, 0);
  std::vector<float> data(2500);
  std::vector<Completion> calls;
  for (Transport* one : {comm.get(), part.get(), other.get()})
    calls.push_back(one->start(Exec(), AllReduce{data.data(), data.data(), 2500}));
  for (auto& call : calls) call.wait();
  EXPECT_GE(between(calls[0].times().finished, calls[1].times().finished), 0.00999);
  EXPECT_GE(between(calls[1].times().finished, calls[2].times().finished), 0.00999);
}

TEST(Throttled, ACollectiveBeginsWhenMessagesHaveLeft) {
  const auto comm = slow(2);
  std::vector<std::byte> out(10000);
  std::vector<float> data(2500);
  Completion sent = comm->start(Exec(), Send{out.data(), 10000, 1, 0});
  Completion sum = comm->start(Exec(), AllReduce{data.data(), data.data(), 2500});
  sum.wait();
  sent.wait();
  EXPECT_GE(between(sent.times().started, sum.times().finished), 0.010 + 0.010);
}

TEST(Throttled, AMessageLeavesWhenACollectiveHasLeft) {
  const auto comm = slow(2);
  std::vector<std::byte> out(10000);
  std::vector<float> data(2500);
  const auto begin = Clock::now();
  Completion sum = comm->start(Exec(), AllReduce{data.data(), data.data(), 2500});
  comm->split(0, 0);  // carries out all earlier calls, and does not wait until they end
  Completion sent = comm->start(Exec(), Send{out.data(), 10000, 1, 0});
  sent.wait();
  EXPECT_GE(between(begin, sent.times().finished), 0.010 + 0.010);
  sum.wait();
}

// A group counts as one call with the bytes of all its calls.
TEST(Throttled, AGroupTakesTheTimeOfItsCalls) {
  const auto comm = slow(2);
  std::vector<float> data(2500);
  const std::array<Call, 3> group = {AllReduce{data.data(), data.data(), 2500},
                                     AllReduce{data.data(), data.data(), 2500},
                                     Broadcast{data.data(), 2500, DType::f32, 0}};
  Completion calls = comm->start(Exec(), group);
  calls.wait();
  EXPECT_GE(between(calls.times().started, calls.times().finished), 0.030 + 3 * 10e-6 - 1e-9);
}

}  // namespace throttled_test
}  // namespace gradcomp
