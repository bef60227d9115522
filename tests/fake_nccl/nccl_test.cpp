// What only the transport over NCCL promises: its groups, its names, its sums, and how it ends.
#include "gradcomp/comm/transports/nccl.hpp"

#include <thread>

#include "distributed/world.hpp"
#include "error_of.hpp"
#include "fake.hpp"
#include "gradcomp/comm/counting.hpp"
#include "gradcomp/comm/detail/nccl_bootstrap.hpp"
#include "gradcomp/comm/queued.hpp"
#include "gradcomp/kernels/quantise/casts.hpp"

namespace gradcomp::test {
namespace nccl_test {

using testing::HasSubstr;

std::string times(int n, const std::string& what) {
  std::string all;
  for (int i = 0; i < n; ++i) all += (all.empty() ? "" : " ") + what;
  return all;
}

/// The groups that `calls` make.
std::vector<std::string> groups_of(Transport& comm, std::span<const Call> calls) {
  const std::size_t before = fake_nccl::log().size();
  comm.start(Exec(), calls).wait();
  const auto& log = fake_nccl::log();
  return {log.begin() + static_cast<std::ptrdiff_t>(before), log.end()};
}

AllGatherV uneven(const Transport& comm, const Vector<std::byte>& send, const Vector<std::byte>& receive) {
  return {send.data(), 1 + comm.rank(), receive.data(), static_cast<index_t>(receive.size())};
}

TEST(Nccl, CallsThatStartTogetherAreOneGroup) {
  const auto comm = make_transport("nccl:allgatherv=padded", MPI_COMM_WORLD);
  const Vector<float> x("x", 10), y("y", 10), all("all", static_cast<std::size_t>(10 * comm->size()));
  const std::array<Call, 3> calls = {AllReduce{x.data(), x.data(), 10}, AllGather{y.data(), all.data(), 10}, Barrier{}};
  EXPECT_THAT(groups_of(*comm, calls), testing::ElementsAre("ncclAllReduce ncclAllGather ncclAllReduce"));
}

TEST(Nccl, EachWayOfAllGatherVIsOneGroup) {
  for (const std::string way : {"padded", "broadcast", "send_recv"}) {
    const auto comm = make_transport("nccl:allgatherv=" + way, MPI_COMM_WORLD);
    const int p = comm->size();
    const Vector<std::byte> send("send", 64), receive("receive", static_cast<std::size_t>(64 * p));
    const std::array<Call, 1> call = {uneven(*comm, send, receive)};
    const auto groups = groups_of(*comm, call);
    const std::string expected = way == "padded"      ? "ncclAllGather"
                                 : way == "broadcast" ? times(p, "ncclBroadcast")
                                                      : times(p - 1, "ncclSend ncclRecv");
    EXPECT_EQ(groups, expected.empty() ? std::vector<std::string>{} : std::vector<std::string>{expected}) << way;
  }
}

// A slot of the size of the largest block for every rank would need 8 x 64 bytes, and there is less room.
TEST(Nccl, BlocksTooUnevenToPadAreSentAndReceived) {
  const auto comm = make_transport("nccl:allgatherv=padded", MPI_COMM_WORLD);
  if (comm->size() == 1) GTEST_SKIP() << "needs two ranks";
  const index_t capacity = 512 + 64 * (comm->size() - 1), own = comm->rank() == 0 ? 512 : 1;
  const auto send = to_device(std::vector<std::int8_t>(static_cast<std::size_t>(own), std::int8_t(comm->rank() + 1)));
  const Vector<std::int8_t> receive("receive", static_cast<std::size_t>(capacity));
  const Found found = run(*comm, Exec(),
                          AllGatherV{reinterpret_cast<const std::byte*>(send.data()), own,
                                     reinterpret_cast<std::byte*>(receive.data()), capacity});
  for (int r = 0; r < comm->size(); ++r) {
    EXPECT_EQ(to_host(receive)[static_cast<std::size_t>(found.blocks.offset[static_cast<std::size_t>(r)])], r + 1);
  }
  EXPECT_THAT(fake_nccl::log().back(), HasSubstr("ncclRecv"));
}

// After the first call of a size, each call is one group, and all ranks use the same way.
TEST(Nccl, TheWayOfAllGatherVIsMeasuredOnce) {
  const auto comm = make_transport("nccl", MPI_COMM_WORLD);
  const Vector<std::byte> send("send", 64), receive("receive", static_cast<std::size_t>(64 * comm->size()));
  const std::array<Call, 1> call = {uneven(*comm, send, receive)};
  EXPECT_GT(groups_of(*comm, call).size(), comm->size() == 1 ? 7 : 11);
  const auto later = groups_of(*comm, call);
  EXPECT_LE(later.size(), 1);
  EXPECT_TRUE(
      same_bits(*comm, later.empty() ? std::vector<char>{} : std::vector<char>(later[0].begin(), later[0].end())));
}

TEST(Nccl, NamesWhatCarriesMessages) {
  EXPECT_EQ(make_transport("nccl", MPI_COMM_WORLD)->name(), "nccl(messages=mpi)");
}

// The fake rounds after every term, as NCCL may do.
TEST(Nccl, HalfSumsAreNcclsAndMaximaAreOurs) {
  using kernels::Bfloat;
  const auto comm = make_transport("nccl", MPI_COMM_WORLD);
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max}) {
    const auto data = to_device(std::vector<std::uint16_t>(1, Bfloat::encode(static_cast<float>(comm->rank()))));
    run(*comm, Exec(), AllReduce{data.data(), data.data(), 1, DType::bf16, op});
    const std::string last = fake_nccl::log().back();
    EXPECT_EQ(last.substr(0, last.find(' ')), op == ReduceOp::sum ? "ncclAllReduce" : "ncclBroadcast");
    const int ranks = comm->size();
    EXPECT_EQ(Bfloat::decode(to_host(data)[0]),
              static_cast<float>(op == ReduceOp::sum ? ranks * (ranks - 1) / 2 : ranks - 1));
  }
}

TEST(Nccl, AfterAnErrorNothingWorksAndTheErrorIsNamed) {
  const auto control = make_mpi(MPI_COMM_WORLD);
  const auto comm = make_nccl(MPI_COMM_WORLD);
  const Vector<float> x("x", 4);
  barrier(*comm);
  barrier(*control);
  fake_nccl::inject(ncclSystemError);
  const auto reduce = [&] { run(*comm, Exec(), AllReduce{x.data(), x.data(), 4}); };
  EXPECT_THAT(error_of(reduce), HasSubstr("nccl: an asynchronous error: unhandled system error"));
  EXPECT_THAT(error_of(reduce), HasSubstr("unhandled system error"));
  barrier(*control);
}

TEST(Nccl, ACallThatAPeerNeverMakesIsGivenUp) {
  const auto control = make_mpi(MPI_COMM_WORLD);
  if (control->size() == 1) GTEST_SKIP() << "needs two ranks";
  NcclOptions options;
  options.limit_seconds = 0.05;
  const auto comm = make_nccl(MPI_COMM_WORLD, options);
  const Vector<float> x("x", 4);
  if (comm->rank() > 0) {
    EXPECT_THAT(error_of([&] { run(*comm, Exec(), AllReduce{x.data(), x.data(), 4}); }),
                HasSubstr("a call of allreduce did not end within 0.05 s; a peer is gone or hangs"));
  }
  barrier(*control);
}

// The option --timeout reaches NCCL this way.
TEST(Nccl, TakesTheLimitOfTheJob) {
  const auto control = make_mpi(MPI_COMM_WORLD);
  if (control->size() == 1) GTEST_SKIP() << "needs two ranks";
  const auto comm = make_counting(make_limited(make_nccl(MPI_COMM_WORLD), 0.05));
  const auto part = comm->split(0, comm->rank());
  const Vector<float> x("x", 4);
  for (Transport* one : {static_cast<Transport*>(comm.get()), part.get()}) {
    if (comm->rank() > 0) {
      EXPECT_THAT(error_of([&] { run(*one, Exec(), AllReduce{x.data(), x.data(), 4}); }),
                  HasSubstr("a call of allreduce did not end within 0.05 s; a peer is gone or hangs"));
    }
    if (comm->rank() == 0) {
      EXPECT_THAT(error_of([&] { run(*one, Exec(), Receive{x.data(), 16, 1, 0}); }), HasSubstr("within 0.05 s"));
    }
  }
  barrier(*control);
}

TEST(Nccl, AnAbandonedCallIsNotWaitedFor) {
  const auto control = make_mpi(MPI_COMM_WORLD);
  if (control->size() == 1) GTEST_SKIP() << "needs two ranks";
  auto comm = make_nccl(MPI_COMM_WORLD);
  const Vector<float> x("x", 4);
  if (comm->rank() > 0) {
    Completion never = comm->start(Exec(), AllReduce{x.data(), x.data(), 4});
    comm->abandon();
    EXPECT_THAT(error_of([&] { never.wait(); }), HasSubstr("nccl: the job ends by an error"));
  }
  comm.reset();
  barrier(*control);
}

// The last rank never joins the first call, so that the limit is exceeded while the second call is being made.
TEST(Nccl, ACommunicatorLivesUntilTheEndOfTheGroupThatUsesIt) {
  const auto control = make_mpi(MPI_COMM_WORLD);
  if (control->size() == 1) GTEST_SKIP() << "needs two ranks";
  comm::NcclComm nccl(MPI_COMM_WORLD, 0.05);
  const Vector<float> x("x", 4);
  const auto reduce = [&] {
    nccl.check(ncclAllReduce(x.data(), x.data(), 4, ncclFloat32, ncclSum, nccl.handle(), {}), "ncclAllReduce");
  };
  ncclResult_t state = ncclSuccess, inside = ncclSuccess;
  ncclComm_t handle = nullptr;
  if (control->rank() + 1 < control->size()) {
    nccl.group(reduce);
    nccl.depart(std::make_shared<comm::Flight>(), "allreduce");
    const auto late = [&] {
      handle = nccl.handle();
      while (nccl.alive()) std::this_thread::yield();
      inside = ncclCommGetAsyncError(handle, &state);
      reduce();
    };
    EXPECT_THAT(error_of([&] { nccl.group(late); }), HasSubstr("a call of allreduce did not end within 0.05 s"));
    EXPECT_EQ(inside, ncclSuccess) << "the group still used it";
    EXPECT_EQ(ncclCommGetAsyncError(handle, &state), ncclInvalidArgument) << "now it has ended";
  }
  barrier(*control);
}

TEST(Nccl, RanksThatShareADeviceAreNamed) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  comm::require_own_devices(MPI_COMM_WORLD, fmt::format("0000:{:02x}:00.0", rank));
  if (ranks == 1) return;
  const std::string error =
      error_of([&] { comm::require_own_devices(MPI_COMM_WORLD, fmt::format("0000:{:02x}:00.0", rank % (ranks - 1))); });
  EXPECT_THAT(error, HasSubstr(fmt::format("ranks 0 and {} share device 0000:00:00.0 of host ", ranks - 1)));
}

TEST(Nccl, RefusesWhatItCannotBeMadeOf) {
  EXPECT_THAT(error_of([] { make_transport("nccl", 3); }), HasSubstr("MPI_Comm"));
  EXPECT_THAT(error_of([] { make_transport("nccl:allgatherv=mine", MPI_COMM_WORLD); }), HasSubstr("padded, broadcast"));
}

}  // namespace nccl_test
}  // namespace gradcomp::test
