// Properties of messages that need several ranks: over MPI, behind every wrapper, and over functions of the caller.
#include <thread>

#include "distributed/kinds.hpp"

namespace gradcomp::test {
namespace messages_test {

class Messages : public OverKind {
 protected:
  void SetUp() override {
    OverKind::SetUp();
    if (ranks == 1 && GetParam() == "throttled") GTEST_SKIP() << "no link between a rank and itself";
  }

  int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
};

INSTANTIATE_TEST_SUITE_P(Kinds, Messages,
                         testing::ValuesIn(kinds({"staged", "callbacks", "counting", "queued", "throttled"})),
                         test_name);

// The messages are so large that no library buffers them, and all ranks send before any of them receives.
TEST_P(Messages, ACycleOfSendsGoesThrough) {
  const index_t n = 1 << 18;
  const auto mine = to_device(std::vector<float>(static_cast<std::size_t>(n), static_cast<float>(rank)));
  const Vector<float> theirs("theirs", static_cast<std::size_t>(n));
  for (const bool receive_first : {true, false}) {
    Kokkos::deep_copy(theirs, -1.0f);
    Completion sent = comm->start(exec, Send{mine.data(), 4 * n, next, 0});
    Completion received = comm->start(exec, Receive{theirs.data(), 4 * n, previous, 0});
    (receive_first ? received : sent).wait();
    (receive_first ? sent : received).wait();
    EXPECT_EQ(to_host(theirs)[static_cast<std::size_t>(n - 1)], static_cast<float>(previous));
  }
}

// A group ends when all its calls have ended, in whatever order messages arrive.
TEST_P(Messages, AGroupStartsTogether) {
  std::vector<Vector<float>> theirs;
  std::vector<Call> group;
  const auto mine = to_device(std::vector<float>(100, static_cast<float>(rank)));
  for (int r = 0; r < ranks; ++r) {
    theirs.emplace_back("theirs", 100);
    group.push_back(Receive{theirs.back().data(), 400, r, 2});
    group.push_back(Send{mine.data(), 400, r, 2});
  }
  Completion all = comm->start(exec, group);
  all.wait();
  for (int r = 0; r < ranks; ++r) {
    EXPECT_EQ(to_host(theirs[static_cast<std::size_t>(r)])[99], static_cast<float>(r));
    EXPECT_EQ(all.found(static_cast<std::size_t>(2 * r)).source, r);
    EXPECT_EQ(all.found(static_cast<std::size_t>(2 * r)).bytes, 400);
  }
}

// Messages with different tags are received in the reverse order; those with one tag arrive in the order of sending.
TEST_P(Messages, CompleteOutOfOrder) {
  std::array<int, 6> sent{}, received{};
  std::vector<Completion> calls;
  for (int i = 0; i < 6; ++i) {
    sent[static_cast<std::size_t>(i)] = 100 * rank + i;
    calls.push_back(comm->start(exec, Send{&sent[static_cast<std::size_t>(i)], 4, next, i / 2}));
  }
  for (const int tag : {2, 0, 1}) {
    for (int i = 0; i < 2; ++i) {
      run(*comm, exec, Receive{&received[static_cast<std::size_t>(2 * tag + i)], 4, previous, tag});
    }
  }
  for (auto& call : calls) call.wait();
  for (int i = 0; i < 6; ++i) EXPECT_EQ(received[static_cast<std::size_t>(i)], 100 * previous + i);
}

// While rank 0 has a receive from rank 2, which is late, it exchanges messages with rank 1.
TEST_P(Messages, ASlowPeerStallsNobodyElse) {
  if (ranks < 3) GTEST_SKIP() << "needs three ranks";
  const index_t n = 1 << 16;
  const Vector<float> out("out", static_cast<std::size_t>(n)), from_slow("from_slow", 1), from_fast("from_fast", 1);
  barrier(*comm);
  if (rank == 0) {  // waits for rank 2, which is late, and serves rank 1 meanwhile
    Completion slow = comm->start(exec, Receive{from_slow.data(), 4, 2, 0});
    Completion sent = comm->start(exec, Send{out.data(), 4 * n, 1, 0});
    Completion fast = comm->start(exec, Receive{from_fast.data(), 4, 1, 0});
    fast.wait();
    sent.wait();
    EXPECT_FALSE(slow.test());
    const int go = 1;
    run(*comm, exec, Send{&go, 4, 2, 1});
    slow.wait();
  } else if (rank == 1) {
    run(*comm, exec, Receive{out.data(), 4 * n, 0, 0});
    run(*comm, exec, Send{from_fast.data(), 4, 0, 0});
  } else if (rank == 2) {
    int go = 0;
    run(*comm, exec, Receive{&go, 4, 0, 1});
    run(*comm, exec, Send{from_slow.data(), 4, 0, 0});
  }
  barrier(*comm);
}

TEST_P(Messages, TestMakesTheProgress) {
  int sent = rank, received = -1;
  Completion receive = comm->start(exec, Receive{&received, 4, previous, 9});
  Completion send = comm->start(exec, Send{&sent, 4, next, 9});
  while (!receive.test()) std::this_thread::yield();
  while (!send.test()) std::this_thread::yield();
  EXPECT_EQ(received, previous);
}

// In whatever order calls are in a group, none of them waits until another one ends.
TEST_P(Messages, AGroupOfMessagesAndCollectivesStartsTogether) {
  const auto mine = to_device(std::vector<float>(100, static_cast<float>(rank)));
  const Vector<float> theirs("theirs", 100), sum("sum", 100), all("all", static_cast<std::size_t>(100 * ranks));
  const std::array<Call, 4> group = {Receive{theirs.data(), 400, previous, 4}, AllReduce{mine.data(), sum.data(), 100},
                                     AllGather{mine.data(), all.data(), 100}, Send{mine.data(), 400, next, 4}};
  Completion calls = comm->start(exec, group);
  calls.wait();
  EXPECT_EQ(calls.found(0).source, previous);
  EXPECT_EQ(to_host(theirs)[99], static_cast<float>(previous));
  EXPECT_EQ(to_host(sum)[99], static_cast<float>(ranks * (ranks - 1) / 2));
  EXPECT_EQ(to_host(all)[static_cast<std::size_t>(100 * ranks - 1)], static_cast<float>(ranks - 1));
}

// Rank 0 waits for rank 2, which waits for rank 1, which waits for what rank 0 sends.
TEST_P(Messages, AReceiveThatWaitsStallsNoSend) {
  if (ranks < 3) GTEST_SKIP() << "needs three ranks";
  const index_t n = 1 << 18;
  const Vector<float> large("large", static_cast<std::size_t>(n));
  int token = rank;
  if (rank == 0) {
    Completion received = comm->start(exec, Receive{&token, 4, 2, 0});
    Completion sent = comm->start(exec, Send{large.data(), 4 * n, 1, 0});
    received.wait();
    sent.wait();
    EXPECT_EQ(token, 1);
  } else if (rank == 1) {
    run(*comm, exec, Receive{large.data(), 4 * n, 0, 0});
    run(*comm, exec, Send{&token, 4, 2, 0});
  } else if (rank == 2) {
    run(*comm, exec, Receive{&token, 4, 1, 0});
    run(*comm, exec, Send{&token, 4, 0, 0});
  }
  barrier(*comm);
}

// The last rank joins a collective call only after it has received a message that others send after they started the
// call.
TEST_P(Messages, ACollectiveThatWaitsHoldsUpNoMessage) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  if (!comm->overlaps()) GTEST_SKIP() << "carries collective calls in start()";
  const Vector<float> data("data", 100);
  Kokkos::deep_copy(data, 1.0f);
  int go = rank;
  if (rank == ranks - 1) run(*comm, exec, Receive{&go, 4, 0, 6});
  Completion sum = comm->start(exec, AllReduce{data.data(), data.data(), 100});
  if (rank == 0) run(*comm, exec, Send{&go, 4, ranks - 1, 6});
  sum.wait();
  EXPECT_EQ(to_host(data)[99], static_cast<float>(ranks));
  EXPECT_EQ(go, rank == ranks - 1 ? 0 : rank);
}

}  // namespace messages_test
}  // namespace gradcomp::test
