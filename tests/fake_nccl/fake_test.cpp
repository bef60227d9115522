// The fake NCCL must find mistakes. These tests call it directly and make them on purpose.
#include "fake.hpp"

#include <thread>

#include "distributed/world.hpp"
#include "gradcomp/comm/detail/nccl_bootstrap.hpp"

namespace gradcomp::test {
namespace fake_test {

using testing::HasSubstr;

class FakeNccl : public testing::Test {
 protected:
  FakeNccl() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  ~FakeNccl() override {
    MPI_Barrier(MPI_COMM_WORLD);  // no rank leaves while others still need it
    ncclCommAbort(comm);
  }
  /// The final state: ncclSuccess or an error.
  ncclResult_t state() const { return state(comm); }
  static ncclResult_t state(ncclComm_t of) {
    ncclResult_t found = ncclInProgress;
    while (found == ncclInProgress) {
      EXPECT_EQ(ncclCommGetAsyncError(of, &found), ncclSuccess);
      std::this_thread::yield();
    }
    return found;
  }

  int rank = 0, ranks = 1;
  ncclComm_t comm = gradcomp::comm::make_nccl_comm(MPI_COMM_WORLD);
  std::vector<float> x = std::vector<float>(64), y = std::vector<float>(64 * 7);
};

TEST_F(FakeNccl, ACountOfOneRank) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  EXPECT_EQ(ncclAllReduce(x.data(), x.data(), rank == 0 ? 3 : 4, ncclFloat32, ncclSum, comm, nullptr), ncclSuccess);
  EXPECT_EQ(state(), ncclInvalidUsage);
  EXPECT_THAT(ncclGetLastError(comm), HasSubstr("different collective calls: ncclAllReduce(count"));
}

TEST_F(FakeNccl, AnOrderOfOneRank) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  const auto reduce = [&] { ncclAllReduce(x.data(), x.data(), 4, ncclFloat32, ncclSum, comm, nullptr); };
  const auto gather = [&] { ncclAllGather(x.data(), y.data(), 4, ncclFloat32, comm, nullptr); };
  rank == 0 ? reduce() : gather();
  rank == 0 ? gather() : reduce();
  EXPECT_EQ(state(), ncclInvalidUsage);
}

TEST_F(FakeNccl, ATypeAnOperationAndARoot) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  for (int mistake = 0; mistake < 3; ++mistake) {
    const bool mine = rank == ranks - 1;
    const ncclComm_t own = gradcomp::comm::make_nccl_comm(MPI_COMM_WORLD);
    if (mistake == 0) ncclAllReduce(x.data(), x.data(), 4, mine ? ncclInt32 : ncclFloat32, ncclSum, own, nullptr);
    if (mistake == 1) ncclAllReduce(x.data(), x.data(), 4, ncclFloat32, mine ? ncclMax : ncclSum, own, nullptr);
    if (mistake == 2) ncclBroadcast(x.data(), x.data(), 4, ncclFloat32, mine ? 1 : 0, own, nullptr);
    EXPECT_EQ(state(own), ncclInvalidUsage) << mistake;
    MPI_Barrier(MPI_COMM_WORLD);
    ncclCommAbort(own);
  }
}

// Every rank makes the mistake, because a rank without one would wait for the others.
TEST_F(FakeNccl, ASendWithoutAReceive) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  EXPECT_EQ(ncclSend(x.data(), 4, ncclFloat32, (rank + 1) % ranks, comm, nullptr), ncclSuccess);
  EXPECT_EQ(state(), ncclInvalidUsage);
  EXPECT_THAT(ncclGetLastError(comm), HasSubstr("what one sends the other does not receive"));
}

TEST_F(FakeNccl, AReceiveOfAnotherSize) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  ncclGroupStart();
  ncclSend(x.data(), 4, ncclFloat32, (rank + 1) % ranks, comm, nullptr);
  ncclRecv(y.data(), 5, ncclFloat32, (rank + ranks - 1) % ranks, comm, nullptr);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  EXPECT_EQ(state(), ncclInvalidUsage);
}

TEST_F(FakeNccl, UnbalancedGroups) {
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  EXPECT_THAT(ncclGetLastError(comm), HasSubstr("ncclGroupEnd without ncclGroupStart"));
  ncclGroupStart();
  EXPECT_EQ(ncclCommDestroy(comm), ncclInvalidUsage);
  EXPECT_THAT(ncclGetLastError(comm), HasSubstr("ncclGroupEnd is missing"));
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
}

TEST_F(FakeNccl, NothingStartsBeforeTheOuterGroupEnds) {
  const std::size_t before = fake_nccl::log().size();
  ncclGroupStart();
  ncclGroupStart();
  ncclAllReduce(x.data(), x.data(), 4, ncclFloat32, ncclSum, comm, nullptr);
  ncclGroupEnd();
  EXPECT_EQ(fake_nccl::log().size(), before);
  ncclGroupEnd();
  EXPECT_EQ(fake_nccl::log().size(), before + 1);
  EXPECT_EQ(state(), ncclSuccess);
}

TEST_F(FakeNccl, BuffersOfAGroupThatOverlap) {
  ncclGroupStart();
  ncclAllReduce(x.data(), x.data(), 4, ncclFloat32, ncclSum, comm, nullptr);
  ncclAllReduce(x.data() + 3, y.data(), 4, ncclFloat32, ncclSum, comm, nullptr);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  EXPECT_THAT(ncclGetLastError(comm), HasSubstr("of the same group uses"));
}

TEST_F(FakeNccl, UseAfterTheEnd) {
  const ncclComm_t own = gradcomp::comm::make_nccl_comm(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(ncclCommAbort(own), ncclSuccess);
  ncclResult_t found = ncclSuccess;
  EXPECT_EQ(ncclCommGetAsyncError(own, &found), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(x.data(), x.data(), 4, ncclFloat32, ncclSum, own, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommAbort(own), ncclInvalidArgument);
  EXPECT_EQ(ncclCommDestroy(own), ncclInvalidArgument);
}

TEST_F(FakeNccl, NoBufferAndNoSuchRank) {
  EXPECT_EQ(ncclAllReduce(nullptr, x.data(), 4, ncclFloat32, ncclSum, comm, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclBroadcast(x.data(), x.data(), 4, ncclFloat32, ranks, comm, nullptr), ncclInvalidArgument);
}

}  // namespace fake_test
}  // namespace gradcomp::test
