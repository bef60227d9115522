// Splits, messages and collective calls share an emulated link. The bytes take far longer than the latency. The tests
// use the times that the transport reports, which are lower bounds.
#include "gradcomp/comm/throttled.hpp"

#include <gtest/gtest.h>

#include "unit/comm/fake_transport.hpp"

namespace gradcomp {
namespace {

using test::FakeTransport;

/// A link with 1 byte per microsecond.
std::unique_ptr<Transport> slow(int ranks) {
  return make_throttled(std::make_unique<FakeTransport>(ranks), parse_link("8Mbit/s,10us"));
}

double between(Clock::time_point a, Clock::time_point b) { return std::chrono::duration<double>(b - a).count(); }

TEST(Throttled, ASplitSharesTheLink) {
  const auto comm = slow(2);
  const auto part = comm->split(0, 0, Level::node), other = part->split(0, 0, Level::across);
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

}  // namespace
}  // namespace gradcomp
