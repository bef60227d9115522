// counting, throttled and queued over MPI.
#include "distributed/world.hpp"
#include "gradcomp/comm/counting.hpp"
#include "gradcomp/comm/queued.hpp"
#include "gradcomp/comm/throttled.hpp"

namespace gradcomp::test {
namespace {

TEST(Counting, SumsOverRanksAreTheFormulas) {
  const auto comm = make_counting(world());
  const auto checks = world();
  const Exec exec;
  const index_t p = comm->size(), n = 101;
  const Vector<float> a("a", static_cast<std::size_t>(n * p)), b("b", static_cast<std::size_t>(n * p));
  const auto all_ranks_sent = [&](Operation operation) {
    EXPECT_EQ(sum_over_ranks(*checks, {comm->of(operation).sent}),
              sum_over_ranks(*checks, {comm->of(operation).received}))
        << to_string(operation);
    return sum_over_ranks(*checks, {comm->of(operation).sent})[0];
  };
  comm->allreduce(exec, a.data(), b.data(), n, DType::f32, ReduceOp::sum)->wait(exec);
  EXPECT_EQ(all_ranks_sent(Operation::allreduce), 2 * (p - 1) * 4 * n);
  comm->allreduce(exec, a.data(), b.data(), n, DType::bf16, ReduceOp::sum)->wait(exec);
  EXPECT_EQ(all_ranks_sent(Operation::allreduce), 2 * (p - 1) * 6 * n);
  comm->allgather(exec, a.data(), b.data(), n, DType::f32)->wait(exec);
  EXPECT_EQ(all_ranks_sent(Operation::allgather), p * (p - 1) * 4 * n);
  comm->alltoall(exec, a.data(), b.data(), n, DType::f32)->wait(exec);
  EXPECT_EQ(all_ranks_sent(Operation::alltoall), p * (p - 1) * 4 * n);
  comm->reduce_scatter(exec, a.data(), b.data(), n, DType::f32, ReduceOp::sum)->wait(exec);
  EXPECT_EQ(all_ranks_sent(Operation::reduce_scatter), p * (p - 1) * 4 * n);
  comm->broadcast(exec, a.data(), n, DType::f32, static_cast<int>(p - 1))->wait(exec);
  EXPECT_EQ(all_ranks_sent(Operation::broadcast), (p - 1) * 4 * n);
  GatherSizes sizes;
  const index_t own = 10 * comm->rank();
  comm->allgatherv(exec, reinterpret_cast<std::byte*>(a.data()), own, reinterpret_cast<std::byte*>(b.data()), 4 * n * p,
                   sizes)
      ->wait(exec);
  EXPECT_EQ(all_ranks_sent(Operation::allgatherv), (p - 1) * (10 * p * (p - 1) / 2 + 8 * p));
  GatherSizes parts;  // rank s sends s bytes to all
  parts.size.assign(static_cast<std::size_t>(p), comm->rank());
  parts.offset.assign(static_cast<std::size_t>(p), 0);
  PartSizes found;
  comm->alltoallv(exec, reinterpret_cast<std::byte*>(a.data()), parts, reinterpret_cast<std::byte*>(b.data()),
                  4 * n * p, found)
      ->wait(exec);
  EXPECT_EQ(all_ranks_sent(Operation::alltoallv), (p - 1) * (p * (p - 1) / 2 + 8 * p * p));
}

TEST(Counting, CountsSizedMessagesOnBothSides) {
  const auto comm = make_counting(world());
  if (comm->size() == 1) return;
  const Exec exec;
  std::vector<std::byte> data(100);
  index_t bytes = 0;
  if (comm->rank() == 0) comm->send_sized(exec, data.data(), 70, 1, 0)->wait(exec);
  if (comm->rank() == 1) {
    const auto request = comm->receive_sized(exec, data.data(), 100, 0, 0, &bytes);
    request->wait(exec);
    request->wait(exec);
  }
  EXPECT_EQ(comm->of(Operation::send).sent, comm->rank() == 0 ? 78 : 0);
  EXPECT_EQ(comm->of(Operation::receive).received, comm->rank() == 1 ? 78 : 0);
}

// a lower bound holds however loaded the machine is
TEST(Throttled, TakesTheTimeOfTheSlowestShareOnEveryRank) {
  const Link link = parse_link("8Mbit/s,1ms");
  const auto comm = make_throttled(world(), link);
  const int p = comm->size();
  const Exec exec;
  const Vector<float> data("data", 2500), result("result", 2500);
  const auto begin = Request::Clock::now();
  const auto request = comm->allreduce(exec, data.data(), result.data(), 2500, DType::f32, ReduceOp::sum);
  request->wait(exec);
  const double taken = std::chrono::duration<double>(Request::Clock::now() - begin).count();
  EXPECT_GE(taken, 2.0 * (p - 1) / p * 0.010 + 2e-3 * (p - 1));
  // all ranks wait for the one that sends 5000 bytes to its neighbour
  GatherSizes parts;
  parts.size.assign(static_cast<std::size_t>(p), 0);
  parts.offset.assign(static_cast<std::size_t>(p), 0);
  if (comm->rank() == 0) parts.size.back() = 5000;
  PartSizes sizes;
  const auto second = Request::Clock::now();
  comm->alltoallv(exec, reinterpret_cast<std::byte*>(data.data()), parts, reinterpret_cast<std::byte*>(result.data()),
                  10000, sizes)
      ->wait(exec);
  EXPECT_GE(std::chrono::duration<double>(Request::Clock::now() - second).count(), p > 1 ? 0.005 : 0.0);
}

// rank 0 sends late: its message cannot arrive before the link has carried it
TEST(Throttled, AReceiverWaitsForTheLinkOfItsSender) {
  const auto comm = make_throttled(world(), parse_link("8Mbit/s,1ms"));
  if (comm->size() == 1) return;
  const Exec exec;
  const Vector<float> data("data", 2500);
  const auto begin = Request::Clock::now();
  if (comm->rank() == 0) {
    comm->send(exec, data.data(), 2500, DType::f32, 1, 0)->wait(exec);
  } else if (comm->rank() == 1) {
    comm->receive(exec, data.data(), 2500, DType::f32, 0, 0)->wait(exec);
  }
  comm->barrier();
  EXPECT_GE(std::chrono::duration<double>(Request::Clock::now() - begin).count(), 0.011);
}

TEST(Queued, OverlapsWithMpiCallsOfTheMainThread) {
  const auto control = world();
  const auto comm = make_queued(make_throttled(world(), parse_link("100Mbit/s,1ms")));
  const Exec exec;
  std::vector<Vector<float>> data;
  std::vector<RequestPtr> requests;
  for (int i = 0; i < 8; ++i) {
    data.push_back(to_device(std::vector<float>(100, static_cast<float>(i + comm->rank()))));
    requests.push_back(comm->allreduce(exec, data.back().data(), data.back().data(), 100, DType::f32, ReduceOp::sum));
    control->barrier();
  }
  const int p = comm->size();
  for (int i = 7; i >= 0; --i) {
    requests[static_cast<std::size_t>(i)]->wait(exec);
    EXPECT_EQ(to_host(data[static_cast<std::size_t>(i)])[99], static_cast<float>(p * i + p * (p - 1) / 2));
  }
  EXPECT_EQ(comm->split(0, 0)->size(), p);
}

TEST(Queued, CarriesPartsAndSizedMessages) {
  const auto comm = make_queued(world());
  const int p = comm->size(), rank = comm->rank();
  const Exec exec;
  const auto send = to_device(std::vector<std::int8_t>(10, static_cast<std::int8_t>(rank)));
  const Vector<std::int8_t> receive("receive", static_cast<std::size_t>(p * gather_alignment)), last("last", 10);
  GatherSizes parts;
  parts.size.assign(static_cast<std::size_t>(p), 10);
  parts.offset.assign(static_cast<std::size_t>(p), 0);
  PartSizes sizes;
  const auto* const data = reinterpret_cast<const std::byte*>(send.data());
  const auto first =
      comm->alltoallv(exec, data, parts, reinterpret_cast<std::byte*>(receive.data()), p * gather_alignment, sizes);
  index_t bytes = 0;
  RequestPtr second;
  if (p > 1 && rank == p - 1) second = comm->send_sized(exec, data, 7, 0, 1);
  if (p > 1 && rank == 0) {
    second = comm->receive_sized(exec, reinterpret_cast<std::byte*>(last.data()), 10, p - 1, 1, &bytes);
  }
  if (second) second->wait(exec);
  first->wait(exec);
  for (int s = 0; s < p; ++s) {
    EXPECT_EQ(to_host(receive)[static_cast<std::size_t>(sizes.received.offset[static_cast<std::size_t>(s)])], s);
  }
  EXPECT_EQ(bytes, p > 1 && rank == 0 ? 7 : 0);
}

TEST(Session, NamesTheLibrary) {
  EXPECT_FALSE(MpiSession::library_version().empty());
  EXPECT_EQ(MpiSession::library_version().find('\n'), std::string::npos);
  EXPECT_EQ(world()->name(), device_is_host ? "mpi" : world()->name());
  MpiOptions staged;
  staged.always_stage = true;
  EXPECT_EQ(world(staged)->name(), "mpi(host-staged)");
  EXPECT_THROW(parse_gpu_aware("maybe"), Error);
  EXPECT_THROW(check_mpi(1, "MPI_Something"), Error);
}

}  // namespace
}  // namespace gradcomp::test
