// The wrappers counting, throttled and queued over a transport that only records its calls, and the transports self and
// callbacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "error_of.hpp"
#include "gradcomp/comm/counting.hpp"
#include "gradcomp/comm/queued.hpp"
#include "gradcomp/comm/throttled.hpp"
#include "gradcomp/comm/transports/self.hpp"
#include "unit/comm/fake_transport.hpp"

namespace gradcomp {
namespace wrappers_test {

using test::error_of;
using test::FakeTransport;
using testing::ElementsAre;
using testing::HasSubstr;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

TEST(Counting, AddsEachOperationApart) {
  const auto comm = make_counting(std::make_unique<FakeTransport>(4, 1));
  const Exec exec;
  std::array<float, 64> buffer{};
  run(*comm, exec, AllReduce{buffer.data(), buffer.data(), 8});
  run(*comm, exec, AllReduce{buffer.data(), buffer.data(), 8});
  run(*comm, exec, Send{buffer.data(), 6, 0, 7});
  barrier(*comm);
  const Ledger& ledger = comm->ledger();
  EXPECT_EQ(ledger.of<AllReduce>().calls, 2);
  EXPECT_EQ(ledger.of<AllReduce>().sent, 2 * 2 * 3 * 8);
  EXPECT_EQ(ledger.of<Send>().sent, 6);
  EXPECT_EQ(ledger.total().calls, 4);
  EXPECT_EQ(ledger.total().sent, 96 + 6);
  EXPECT_EQ(comm->split(0, 0)->name(), "counting/fake");
  EXPECT_STREQ(name_of(ReduceScatter{}), "reduce_scatter");
}

TEST(Counting, CountsAGatherOnceWhenItHasBeenWaitedFor) {
  const auto comm = make_counting(std::make_unique<FakeTransport>(3));
  std::array<std::byte, 256> buffer{};
  Completion request = comm->start(Exec(), AllGatherV{buffer.data(), 5, buffer.data(), 256});
  EXPECT_EQ(comm->ledger().total().sent, 0);
  request.wait();
  request.wait();
  EXPECT_TRUE(request.test());
  EXPECT_EQ(comm->ledger().of<AllGatherV>().calls, 1);
  EXPECT_EQ(comm->ledger().total().sent, 2 * 5 + 2 * 8);
  EXPECT_EQ(request.found().blocks.size.size(), 3u);
}

TEST(Counting, ASplitInheritsTheLedger) {
  const auto comm = make_counting(std::make_unique<FakeTransport>(4));
  const auto node = comm->split(0, 0), across = node->split(0, 0);
  float x = 0;
  run(*comm, Exec(), AllReduce{&x, &x, 1});
  run(*node, Exec(), AllReduce{&x, &x, 1});
  run(*node, Exec(), AllReduce{&x, &x, 1});
  run(*across, Exec(), AllReduce{&x, &x, 1});
  const Ledger& ledger = comm->ledger();
  EXPECT_EQ(ledger.of<AllReduce>().calls, 4);
  EXPECT_EQ(ledger.total().calls, 4);
}

TEST(Counting, CountsEveryCallOfAGroup) {
  const auto comm = make_counting(std::make_unique<FakeTransport>(2));
  std::array<float, 8> x{};
  const std::array<Call, 3> group = {Send{x.data(), 4, 1, 0}, AllReduce{x.data(), x.data(), 2},
                                     Send{x.data(), 8, 1, 1}};
  Completion all = comm->start(Exec(), group);
  all.wait();
  EXPECT_EQ(comm->ledger().of<Send>().sent, 12);
  EXPECT_EQ(comm->ledger().of<AllReduce>().sent, 8);
  EXPECT_EQ(all.all_found().size(), 3u);
}

// Ranks agree on the beginning of each call before they carry it.
TEST(Throttled, IsNamedEmulatedAndAgreesOnTheBeginning) {
  auto inner = std::make_unique<FakeTransport>(2);
  const auto log = inner->log;
  const auto comm = make_throttled(std::move(inner), parse_link("1Gbit/s,50us"));
  EXPECT_EQ(comm->name(), "emulated(1Gbit/s,50us)/fake");
  EXPECT_EQ(comm->split(0, 0)->name(), "emulated(1Gbit/s,50us)/fake");
  EXPECT_TRUE(comm->overlaps());
  float value = 1;
  Completion request = comm->start(Exec(), AllReduce{&value, &value, 1});
  EXPECT_TRUE(log->calls.empty()) << "nothing may be carried before a call is waited for";
  request.wait();
  EXPECT_THAT(log->calls, ElementsAre("barrier", "allreduce 1", "allreduce 1"));
  EXPECT_EQ(value, 2);
  run(*comm, Exec(), AllReduce{&value, &value, 1});
  EXPECT_EQ(log->calls.size(), 5u) << "clocks are compared only once";
}

// The lower bound holds even if the machine is busy. There is no upper bound.
TEST(Throttled, TakesAtLeastTheTimeOfTheLink) {
  const auto comm = make_throttled(std::make_unique<FakeTransport>(2), parse_link("8Mbit/s,2ms"));
  std::vector<float> buffer(5000);
  const auto begin = Clock::now();
  Completion request = comm->start(Exec(), AllReduce{buffer.data(), buffer.data(), 5000});
  EXPECT_FALSE(request.test());
  request.wait();
  EXPECT_GE(seconds_since(begin), 0.020 + 0.002);
  const std::chrono::duration<double> lasted = request.times().finished - request.times().started;
  EXPECT_GE(lasted.count(), 0.022);
  const auto second = Clock::now();
  auto* const bytes = reinterpret_cast<std::byte*>(buffer.data());
  run(*comm, Exec(), AllGatherV{bytes, 5000, bytes + 5056, 10112});
  EXPECT_GE(seconds_since(second), 0.005 + 2 * 0.002);
}

TEST(Throttled, AChangedLinkHoldsForTheCallsThatFollow) {
  const auto link = std::make_shared<Link>(parse_link("1Gbit/s"));
  const auto comm = make_throttled(std::make_unique<FakeTransport>(2), std::shared_ptr<const Link>(link));
  std::vector<float> buffer(5000);
  run(*comm, Exec(), AllReduce{buffer.data(), buffer.data(), 5000});
  *link = parse_link("8Mbit/s");
  EXPECT_EQ(comm->name(), "emulated(8Mbit/s)/fake");
  const auto begin = Clock::now();
  run(*comm, Exec(), AllReduce{buffer.data(), buffer.data(), 5000});
  EXPECT_GE(seconds_since(begin), 0.020);
}

// The bytes of the four calls take 20 ms each, and latencies are far smaller: the calls share one link.
TEST(Throttled, OutstandingCallsShareTheLink) {
  auto inner = std::make_unique<FakeTransport>(2);
  const auto log = inner->log;
  const auto comm = make_throttled(std::move(inner), parse_link("8Mbit/s,10us"));
  std::vector<float> buffer(5000);
  const auto begin = Clock::now();
  std::vector<Completion> requests;
  for (int i = 0; i < 4; ++i) requests.push_back(comm->start(Exec(), AllReduce{buffer.data(), buffer.data(), 5000}));
  EXPECT_TRUE(log->calls.empty()) << "start() must not wait";
  requests[3].wait();  // carries the other calls first
  EXPECT_GE(seconds_since(begin), 0.080);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(requests[static_cast<std::size_t>(i)].test());
    const std::chrono::duration<double> apart = requests[static_cast<std::size_t>(i) + 1].times().finished -
                                                requests[static_cast<std::size_t>(i)].times().finished;
    EXPECT_GE(apart.count(), 0.0199);
  }
}

TEST(Throttled, MessagesShareTheSendersDirection) {
  const auto comm = make_throttled(std::make_unique<FakeTransport>(3), parse_link("8Mbit/s,1ms"));
  std::vector<std::byte> data(10000);
  const auto begin = Clock::now();
  Completion first = comm->start(Exec(), Send{data.data(), 10000, 1, 0});
  Completion second = comm->start(Exec(), Send{data.data(), 10000, 2, 0});
  second.wait();
  EXPECT_GE(seconds_since(begin), 0.020 + 0.001);
  EXPECT_TRUE(first.test());
  EXPECT_GE(std::chrono::duration<double>(second.times().finished - first.times().started).count(), 0.020 + 0.001);
}

TEST(Throttled, ACallThatFailedThrowsItsErrorAgain) {
  auto inner = std::make_unique<FakeTransport>(2);
  inner->log->fail_at = "broadcast";
  const auto comm = make_throttled(std::move(inner), parse_link("1Gbit/s"));
  std::array<float, 8> value{1};
  Completion bad = comm->start(Exec(), Broadcast{value.data(), 8, DType::f32, 0});
  Completion good = comm->start(Exec(), AllReduce{value.data(), value.data(), 8});
  EXPECT_THAT(error_of([&] { good.wait(); }), HasSubstr("broadcast 8 failed")) << "the earlier call comes first";
  EXPECT_THAT(error_of([&] { bad.wait(); }), HasSubstr("broadcast 8 failed"));
  EXPECT_THAT(error_of([&] { bad.test(); }), HasSubstr("broadcast 8 failed"));
  good.wait();
  EXPECT_EQ(value[0], 2.0f);
}

TEST(Throttled, RefusesToSendFromASecondThreadOverATransportThatIsNotConcurrent) {
  auto inner = std::make_unique<FakeTransport>(2);
  inner->log->threads = false;
  const auto comm = make_throttled(std::move(inner), parse_link("1Gbit/s"));
  float value = 1;
  run(*comm, Exec(), AllReduce{&value, &value, 1});
  EXPECT_EQ(value, 2.0f) << "collective calls need no thread";
  EXPECT_THAT(error_of([&] { comm->start(Exec(), Send{&value, 4, 1, 0}); }), HasSubstr("MPI_THREAD_MULTIPLE"));
}

// On this link the message takes a minute.
TEST(Throttled, DropsWhatHasNotLeftWhenItIsAbandoned) {
  auto inner = std::make_unique<FakeTransport>(2);
  const auto log = inner->log;
  std::vector<std::byte> data(60000);
  float value = 1;
  const auto begin = Clock::now();
  {
    const auto comm = make_throttled(std::move(inner), parse_link("8kbit/s"));
    Completion sent = comm->start(Exec(), Send{data.data(), 60000, 1, 0});
    Completion sum = comm->start(Exec(), AllReduce{&value, &value, 1});
    comm->abandon();
    EXPECT_THAT(error_of([&] { sent.wait(); }), HasSubstr("dropped, because the job ends"));
    EXPECT_THAT(error_of([&] { sum.wait(); }), HasSubstr("dropped, because the job ends"));
  }
  EXPECT_LT(seconds_since(begin), 30);
  EXPECT_TRUE(log->calls.empty());
}

TEST(Throttled, CarriesOutWhatNobodyWaitedFor) {
  auto inner = std::make_unique<FakeTransport>();
  const auto log = inner->log;
  std::vector<float> data(1000, 1.0f);
  {
    const auto comm = make_queued(make_throttled(std::move(inner), parse_link("1Gbit/s,1ms")));
    for (int i = 0; i < 10; ++i) comm->start(Exec(), Broadcast{data.data(), 1000, DType::f32, 0});
  }
  EXPECT_EQ(std::count(log->calls.begin(), log->calls.end(), "broadcast 1000"), 10);
}

TEST(Queued, RunsCallsInOrderOnAnotherThread) {
  auto inner = std::make_unique<FakeTransport>(2);
  const auto log = inner->log;
  const auto comm = make_queued(std::move(inner));
  EXPECT_EQ(comm->name(), "queued/fake");
  std::array<float, 64> a{}, b{};
  a.fill(3);
  const Exec exec;
  Completion first = comm->start(exec, AllReduce{a.data(), a.data(), 16});
  Completion second = comm->start(exec, AllGather{a.data(), b.data(), 16});
  barrier(*comm);  // comes after both
  EXPECT_THAT(log->calls, ElementsAre("allreduce 16", "allgather 16", "barrier"));
  second.wait();
  first.wait();
  first.wait();  // a second wait is harmless
  EXPECT_EQ(b[31], 6.0f);
  EXPECT_LE(first.times().finished, second.times().started);
}

TEST(Queued, ThrowsInWaitAndGoesOn) {
  auto inner = std::make_unique<FakeTransport>();
  inner->log->fail_at = "broadcast";
  const auto comm = make_queued(std::move(inner));
  float value = 0;
  Completion bad = comm->start(Exec(), Broadcast{&value, 1, DType::f32, 0});
  Completion good = comm->start(Exec(), AllReduce{&value, &value, 1});
  EXPECT_THROW(bad.wait(), Error);
  EXPECT_NO_THROW(good.wait());
}

TEST(Queued, FinishesAllCallsBeforeItEnds) {
  auto inner = std::make_unique<FakeTransport>();
  const auto log = inner->log;
  std::vector<float> data(1000, 1.0f);
  {
    const auto comm = make_queued(std::move(inner));
    for (int i = 0; i < 10; ++i) comm->start(Exec(), Broadcast{data.data(), 1000, DType::f32, 0});
  }
  EXPECT_EQ(log->calls.size(), 10u);
}

TEST(Queued, LetsMessagesPassCallsThatWait) {
  Callbacks functions;
  functions.size = 2;
  functions.concurrent = true;
  std::atomic<bool> stuck{true};
  functions.carry = [&](const Exec&, const Call& call, Found&) {
    while (std::holds_alternative<AllReduce>(call) && stuck) std::this_thread::yield();
    return true;
  };
  const auto comm = make_queued(make_callbacks(functions));
  float value = 0;
  Completion slow = comm->start(Exec(), AllReduce{&value, &value, 1});
  Completion message = comm->start(Exec(), Send{&value, 4, 1, 0});
  EXPECT_TRUE(message.test());
  EXPECT_FALSE(slow.test());
  stuck = false;
  slow.wait();
}

TEST(Queued, GivesUpAfterItsLimit) {
  Callbacks functions;
  functions.size = 2;
  functions.concurrent = true;
  const auto stuck = std::make_shared<std::atomic<bool>>(true);  // outlives the thread that hangs
  functions.carry = [stuck](const Exec&, const Call&, Found&) {
    while (*stuck) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return true;
  };
  {
    const auto comm = make_queued(make_callbacks(functions), 0.02);
    float value = 0;
    Completion call = comm->start(Exec(), AllReduce{&value, &value, 1});
    EXPECT_THAT(error_of([&] { call.wait(); }), HasSubstr("allreduce did not end within 0.02 s"));
  }  // does not wait for it
  *stuck = false;
}

TEST(Queued, WaitsNoLongerForMessages) {
  Callbacks functions;
  functions.size = 2;
  functions.concurrent = true;
  const auto come = std::make_shared<std::atomic<bool>>(false);
  functions.carry = [come](const Exec&, const Call&, Found& found) {
    found.bytes = 4;
    return come->load();
  };
  const auto comm = make_limited(make_callbacks(functions), 0.02);
  float value = 0;
  Completion message = comm->start(Exec(), Receive{&value, 4, 1, 0});
  EXPECT_FALSE(message.test());
  EXPECT_THAT(error_of([&] { message.wait(); }), HasSubstr("receive did not end within 0.02 s"));
  EXPECT_THAT(error_of([&] { message.order(Exec()); }), HasSubstr("receive did not end within 0.02 s"));
  *come = true;
  message.wait();
  EXPECT_TRUE(message.test());
  EXPECT_EQ(message.found().bytes, 4);
  EXPECT_EQ(make_limited(make_callbacks(functions), 0)->name(), "callbacks")
      << "without a limit, the transport is not wrapped";
}

TEST(Queued, FinishesNothingOnceItIsAbandoned) {
  Callbacks functions;
  functions.size = 2;
  functions.concurrent = true;
  const auto stuck = std::make_shared<std::atomic<bool>>(true);
  functions.carry = [stuck](const Exec&, const Call&, Found&) {
    while (*stuck) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return true;
  };
  {
    const auto comm = make_counting(make_queued(make_callbacks(functions)));
    float value = 0;
    Completion call = comm->start(Exec(), AllReduce{&value, &value, 1});
    comm->abandon();
    EXPECT_FALSE(call.test()) << "no thread carried it";
  }  // does not wait for it: a destructor that did would never return
  *stuck = false;
}

TEST(Queued, RefusesATransportThatIsNotConcurrent) {
  auto inner = std::make_unique<FakeTransport>();
  inner->log->threads = false;
  const std::string error = error_of([&] { make_queued(std::move(inner)); });
  EXPECT_THAT(error, HasSubstr("MPI_THREAD_MULTIPLE"));
  EXPECT_THAT(error, HasSubstr("strategy=synchronous"));
}

TEST(Self, CopiesAndDeliversItsOwnMessages) {
  const auto comm = make_transport("self", {});
  EXPECT_EQ(comm->size(), 1);
  const Exec exec;
  std::array<float, 4> a{1, 2, 3, 4}, b{};
  run(*comm, exec, AllReduce{a.data(), b.data(), 4});
  EXPECT_EQ(a, b);
  Completion early = comm->start(exec, Receive{b.data(), 16, any_rank, 3});
  EXPECT_FALSE(early.test());
  run(*comm, exec, Send{a.data(), 8, 0, 3});
  EXPECT_TRUE(early.test());
  EXPECT_EQ(early.found().bytes, 8);
  EXPECT_EQ(early.found().source, 0);
  EXPECT_THAT(error_of([&] { run(*comm, exec, Receive{b.data(), 16, 0, 3}); }), HasSubstr("has not sent"));
  run(*comm, exec, Send{a.data(), 16, 0, 4});
  EXPECT_THAT(error_of([&] { run(*comm, exec, Receive{b.data(), 8, 0, 4}); }), HasSubstr("do not fit"));
  std::array<std::byte, 8> bytes{};
  const Blocks parts{{3}, {2}};
  const Found found = run(*comm, exec, AllToAllV{reinterpret_cast<std::byte*>(a.data()), &parts, bytes.data(), 8});
  EXPECT_THAT(found.all, ElementsAre(3));
  EXPECT_EQ(bytes[0], reinterpret_cast<std::byte*>(a.data())[2]);
  EXPECT_EQ(comm->split(0, 0)->name(), "self");
}

TEST(Callbacks, CarriesACallUntilItEnds) {
  int looks = 0;
  Callbacks functions;
  functions.overlaps = true;
  functions.carry = [&](const Exec&, const Call&, Found& found) {
    found.bytes = ++looks;
    return looks == 3;
  };
  const auto comm = make_transport("callbacks", functions);
  float x = 0;
  Completion call = comm->start(Exec(), AllReduce{&x, &x, 1});
  EXPECT_EQ(looks, 1);
  EXPECT_FALSE(call.test());
  call.wait();
  EXPECT_EQ(looks, 3);
  EXPECT_EQ(call.found().bytes, 3);
  functions.overlaps = false;
  looks = 0;
  EXPECT_THAT(error_of([&] { make_callbacks(functions)->start(Exec(), AllReduce{&x, &x, 1}); }),
              HasSubstr("was not carried to its end"));
}

TEST(Callbacks, BeginsAllCallsOfAGroup) {
  std::vector<std::string> begun;
  Callbacks functions;
  functions.size = 2;
  functions.carry = [&](const Exec&, const Call& call, Found&) {
    begun.push_back(name_of(call));
    return !std::holds_alternative<Receive>(call) || begun.size() > 3;  // a receive ends when the peer has the message
  };
  const auto comm = make_callbacks(functions);
  float x = 0;
  const std::array<Call, 3> group = {Receive{&x, 4, 1, 0}, AllReduce{&x, &x, 1}, Send{&x, 4, 1, 0}};
  Completion calls = comm->start(Exec(), group);
  EXPECT_THAT(begun, ElementsAre("receive", "allreduce", "send"));
  EXPECT_TRUE(calls.test());
  EXPECT_THAT(begun, ElementsAre("receive", "allreduce", "send", "receive"));
}

TEST(Transports, AreChosenByNameAndRefuseWhatTheyDoNotKnow) {
  EXPECT_THAT(error_of([] { make_transport("pigeons", {}); }),
              testing::AllOf(HasSubstr("unknown transport 'pigeons'; allowed: "), HasSubstr("mpi"), HasSubstr("self")));
  EXPECT_THAT(error_of([] { make_transport("mpi:gpu_aware=maybe", {}); }), HasSubstr("one of auto, on, off"));
  EXPECT_THAT(error_of([] { make_transport("self:speed=3", {}); }), HasSubstr("unknown option 'speed'"));
  EXPECT_THAT(error_of([] { make_transport("mpi", 3); }), HasSubstr("MPI_Comm"));
  EXPECT_THAT(error_of([] { make_transport("callbacks", 3); }), HasSubstr("Callbacks"));
}

}  // namespace wrappers_test
}  // namespace gradcomp
