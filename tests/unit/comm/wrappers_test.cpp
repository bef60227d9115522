// counting, throttled and queued over a communicator that only writes down its calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "gradcomp/comm/counting.hpp"
#include "gradcomp/comm/queued.hpp"
#include "gradcomp/comm/throttled.hpp"
#include "unit/comm/fake_communicator.hpp"

namespace gradcomp {
namespace {

using test::FakeCommunicator;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Counting, AddsEachOperationApart) {
  const auto comm = make_counting(std::make_unique<FakeCommunicator>(4, 1));
  const Exec exec;
  std::array<float, 64> buffer{};
  comm->allreduce(exec, buffer.data(), buffer.data(), 8, DType::f32, ReduceOp::sum)->wait(exec);
  comm->allreduce(exec, buffer.data(), buffer.data(), 8, DType::f32, ReduceOp::sum)->wait(exec);
  comm->send(exec, buffer.data(), 3, DType::bf16, 0, 7)->wait(exec);
  comm->receive(exec, buffer.data(), 5, DType::i64, -1, 7)->wait(exec);
  comm->barrier();
  EXPECT_EQ(comm->of(Operation::allreduce).calls, 2);
  EXPECT_EQ(comm->of(Operation::allreduce).sent, 2 * 2 * 3 * 8);
  EXPECT_EQ(comm->of(Operation::send).sent, 6);
  EXPECT_EQ(comm->of(Operation::receive).received, 40);
  EXPECT_EQ(comm->total().calls, 5);
  EXPECT_EQ(comm->total().sent, 96 + 6);
  EXPECT_EQ(comm->split(0, 0)->name(), "counting/fake");
  EXPECT_STREQ(to_string(Operation::reduce_scatter), "reduce_scatter");
}

TEST(Counting, CountsAGatherOnceWhenItHasBeenWaitedFor) {
  const auto comm = make_counting(std::make_unique<FakeCommunicator>(3));
  const Exec exec;
  std::array<std::byte, 256> buffer{};
  GatherSizes sizes;
  const auto request = comm->allgatherv(exec, buffer.data(), 5, buffer.data(), 256, sizes);
  EXPECT_EQ(comm->total().sent, 0);
  request->wait(exec);
  request->wait(exec);
  EXPECT_EQ(comm->of(Operation::allgatherv).calls, 1);
  EXPECT_EQ(comm->total().sent, 2 * 5 + 2 * 8);
}

TEST(Throttled, IsNamedEmulatedAndStartsWithABarrier) {
  auto inner = std::make_unique<FakeCommunicator>(2);
  const auto log = inner->log;
  const auto comm = make_throttled(std::move(inner), parse_link("1Gbit/s,50us"));
  EXPECT_EQ(comm->name(), "emulated(1Gbit/s,50us)/fake");
  EXPECT_EQ(comm->split(0, 0)->name(), "emulated(1Gbit/s,50us)/fake");
  float value = 1;
  comm->allreduce({}, &value, &value, 1, DType::f32, ReduceOp::sum)->wait({});
  EXPECT_THAT(log->calls, ElementsAre("barrier", "allreduce 1"));
}

// a lower bound is exact however loaded the machine is; there is no upper one
TEST(Throttled, TakesAtLeastTheTimeOfTheLink) {
  const Link link = parse_link("8Mbit/s,2ms");
  const auto comm = make_throttled(std::make_unique<FakeCommunicator>(2), link);
  std::vector<float> buffer(5000);
  const auto begin = Request::Clock::now();
  const auto request = comm->allreduce({}, buffer.data(), buffer.data(), 5000, DType::f32, ReduceOp::sum);
  const std::chrono::duration<double> taken = Request::Clock::now() - begin;
  EXPECT_GE(taken.count(), 0.020 + 2 * 0.002);
  EXPECT_GE(std::chrono::duration<double>(request->finished - request->started).count(), 0.024);
  GatherSizes sizes;
  const auto second = Request::Clock::now();
  comm->allgatherv({}, reinterpret_cast<std::byte*>(buffer.data()), 5000,
                   reinterpret_cast<std::byte*>(buffer.data()) + 5056, 10112, sizes);
  EXPECT_GE(std::chrono::duration<double>(Request::Clock::now() - second).count(), 0.005 + 2 * 0.002);
}

TEST(Queued, RunsCallsInOrderOnAnotherThread) {
  auto inner = std::make_unique<FakeCommunicator>(2);
  const auto log = inner->log;
  const auto comm = make_queued(std::move(inner));
  std::array<float, 64> a{}, b{};
  a.fill(3);
  const Exec exec;
  const auto first = comm->allreduce(exec, a.data(), a.data(), 16, DType::f32, ReduceOp::sum);
  const auto second = comm->allgather(exec, a.data(), b.data(), 16, DType::f32);
  comm->barrier();  // behind both
  EXPECT_THAT(log->calls, ElementsAre("allreduce 16", "allgather 16", "barrier"));
  second->wait(exec);
  first->wait(exec);
  first->wait(exec);  // again is harmless
  EXPECT_EQ(b[31], 6.0f);
  EXPECT_LE(first->finished, second->started);
}

TEST(Queued, ThrowsInWaitAndGoesOn) {
  auto inner = std::make_unique<FakeCommunicator>();
  inner->log->fail_at = "broadcast";
  const auto comm = make_queued(std::move(inner));
  float value = 0;
  const auto bad = comm->broadcast({}, &value, 1, DType::f32, 0);
  const auto good = comm->allreduce({}, &value, &value, 1, DType::f32, ReduceOp::sum);
  EXPECT_THROW(bad->wait({}), Error);
  EXPECT_NO_THROW(good->wait({}));
}

TEST(Queued, FinishesAllCallsBeforeItEnds) {
  auto inner = std::make_unique<FakeCommunicator>();
  const auto log = inner->log;
  std::vector<float> data(1000, 1.0f);
  {
    const auto comm = make_queued(make_throttled(std::move(inner), parse_link("1Gbit/s,1ms")));
    for (int i = 0; i < 10; ++i) comm->broadcast({}, data.data(), 1000, DType::f32, 0);
  }
  EXPECT_EQ(log->calls.size(), 20u);
}

TEST(Queued, RefusesACommunicatorThatIsNotConcurrent) {
  auto inner = std::make_unique<FakeCommunicator>();
  inner->log->threads = false;
  try {
    make_queued(std::move(inner));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("MPI_THREAD_MULTIPLE"));
    EXPECT_THAT(error.what(), HasSubstr("schedule=synchronous"));
  }
}

}  // namespace
}  // namespace gradcomp
