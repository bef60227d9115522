// Every communicator operation against exact references: integer-valued data whose sums are exact in every type, so
// that no order of summation can excuse a difference. With MPI's own counts, with chunks of 7 elements, and staged.
#include <algorithm>
#include <cmath>

#include "distributed/world.hpp"
#include "gradcomp/kernels/casts.hpp"

namespace gradcomp::test {
namespace {

const index_t counts[] = {0, 1, 2, 3, 5, 8, 13, 100, 1001};

/// A small integer that depends on the rank and the place.
int value(int rank, index_t i) { return static_cast<int>((i * 7 + rank * 3) % 11) - 5; }

int reduced(ReduceOp op, int ranks, index_t i) {
  int result = value(0, i);
  for (int r = 1; r < ranks; ++r) {
    const int v = value(r, i);
    result = op == ReduceOp::sum ? result + v : op == ReduceOp::max ? std::max(result, v) : std::min(result, v);
  }
  return result;
}

class Operations : public testing::TestWithParam<const char*> {
 protected:
  static MpiOptions options() {
    MpiOptions o;
    if (std::string(GetParam()) == "chunked") o.chunk_limit = 7;
    if (std::string(GetParam()) == "staged") o.always_stage = true;
    return o;
  }

  template <class T>
  std::vector<T> own(index_t count, index_t first = 0) const {
    std::vector<T> x(static_cast<std::size_t>(count));
    for (index_t i = 0; i < count; ++i) x[static_cast<std::size_t>(i)] = static_cast<T>(value(rank, first + i));
    return x;
  }

  std::unique_ptr<Communicator> comm = world(options());
  int rank = comm->rank(), ranks = comm->size();
  Exec exec;
};

INSTANTIATE_TEST_SUITE_P(Paths, Operations, testing::Values("plain", "chunked", "staged"),
                         [](const auto& row) { return std::string(row.param); });

template <class T>
void expect_allreduce(Communicator& comm, DType type, const std::vector<T>& own, ReduceOp op, bool in_place) {
  const Exec exec;
  const auto send = to_device(own);
  const auto receive = in_place ? send : Vector<T>("receive", own.size());
  comm.allreduce(exec, send.data(), receive.data(), static_cast<index_t>(own.size()), type, op)->wait(exec);
  const auto result = to_host(receive);
  for (std::size_t i = 0; i < result.size(); ++i) {
    EXPECT_EQ(result[i], static_cast<T>(reduced(op, comm.size(), static_cast<index_t>(i))))
        << own.size() << " at " << i;
  }
}

TEST_P(Operations, AllreduceOfEveryPlainType) {
  for (const index_t count : counts) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max, ReduceOp::min}) {
      for (const bool in_place : {false, true}) {
        expect_allreduce(*comm, DType::f32, own<float>(count), op, in_place);
        expect_allreduce(*comm, DType::i8, own<std::int8_t>(count), op, in_place);
        expect_allreduce(*comm, DType::i32, own<std::int32_t>(count), op, in_place);
        expect_allreduce(*comm, DType::i64, own<std::int64_t>(count), op, in_place);
      }
    }
  }
}

TEST_P(Operations, BitwiseOrOfIntegersOnly) {
  auto bits = to_device(std::vector<std::uint8_t>(19, static_cast<std::uint8_t>(1u << rank)));
  comm->allreduce(exec, bits.data(), bits.data(), 19, DType::u8, ReduceOp::bor)->wait(exec);
  for (const auto b : to_host(bits)) EXPECT_EQ(b, (1u << ranks) - 1);
  if (ranks > 1) {
    for (const DType type : {DType::f32, DType::f16}) {
      EXPECT_THROW(comm->allreduce(exec, bits.data(), bits.data(), 1, type, ReduceOp::bor), Error);
    }
  }
}

template <class Format>
void expect_half(Communicator& comm, index_t count, ReduceOp op, bool in_place) {
  const Exec exec;
  std::vector<std::uint16_t> own(static_cast<std::size_t>(count));
  for (index_t i = 0; i < count; ++i) {
    own[static_cast<std::size_t>(i)] = Format::encode(static_cast<float>(value(comm.rank(), i)));
  }
  const auto send = to_device(own);
  const auto receive = in_place ? send : Vector<std::uint16_t>("receive", own.size());
  comm.allreduce(exec, send.data(), receive.data(), count, Format::dtype, op)->wait(exec);
  const auto result = to_host(receive);
  for (index_t i = 0; i < count; ++i) {
    EXPECT_EQ(Format::decode(result[static_cast<std::size_t>(i)]), static_cast<float>(reduced(op, comm.size(), i)));
  }
}

TEST_P(Operations, AllreduceOfHalfFloats) {
  for (const index_t count : counts) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max, ReduceOp::min}) {
      for (const bool in_place : {false, true}) {
        expect_half<kernels::Half>(*comm, count, op, in_place);
        expect_half<kernels::Bfloat>(*comm, count, op, in_place);
      }
    }
  }
}

// 1 + 2^-9 + ... would round away in bf16 term by term; in f32 the small terms add up before the one rounding
TEST_P(Operations, HalfSumsAreFormedInFloatAndRoundedOnce) {
  using kernels::Bfloat;
  const float mine = rank == 0 ? 1.0f : 0x1p-9f;
  const auto data = to_device(std::vector<std::uint16_t>(5, Bfloat::encode(mine)));
  comm->allreduce(exec, data.data(), data.data(), 5, DType::bf16, ReduceOp::sum)->wait(exec);
  const float expected = Bfloat::decode(Bfloat::encode(1.0f + static_cast<float>(ranks - 1) * 0x1p-9f));
  for (const auto b : to_host(data)) EXPECT_EQ(Bfloat::decode(b), expected);
}

// 2^15 - 2^15 + 2^-14 is 2^-14 in rank order; backwards, the small term is lost in f32
TEST_P(Operations, HalfSumsAreInRankOrder) {
  using kernels::Half;
  const float terms[] = {0x1p15f, -0x1p15f, 0x1p-14f, 0.0f};
  const auto data = to_device(std::vector<std::uint16_t>(5, Half::encode(rank < 4 ? terms[rank] : 0.0f)));
  comm->allreduce(exec, data.data(), data.data(), 5, DType::f16, ReduceOp::sum)->wait(exec);
  float expected = 0;
  for (int r = 0; r < std::min(ranks, 4); ++r) expected += terms[r];
  for (const auto h : to_host(data)) EXPECT_EQ(Half::decode(h), expected);
}

TEST_P(Operations, ANanOfOneRankReachesAll) {
  const std::uint16_t nan = kernels::Half::encode(Kokkos::Experimental::quiet_NaN_v<float>);
  const auto data = to_device(std::vector<std::uint16_t>(3, rank == ranks - 1 ? nan : std::uint16_t{0}));
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max, ReduceOp::min}) {
    const Vector<std::uint16_t> result("result", 3);
    comm->allreduce(exec, data.data(), result.data(), 3, DType::f16, op)->wait(exec);
    for (const auto b : to_host(result)) EXPECT_TRUE(std::isnan(kernels::Half::decode(b)));
  }
}

// fractions whose sums depend on the order: equal bits are then the library's doing, not the data's
TEST_P(Operations, AllreduceGivesTheSameBitsOnEveryRank) {
  std::vector<float> x(1001);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(1 + static_cast<int>(i) * 5 + rank * 3);
  const auto data = to_device(x);
  comm->allreduce(exec, data.data(), data.data(), 1001, DType::f32, ReduceOp::sum)->wait(exec);
  EXPECT_TRUE(same_bits(*comm, to_host(data)));
}

TEST_P(Operations, Allgather) {
  for (const index_t count : counts) {
    const auto send = to_device(own<float>(count));
    const Vector<float> receive("receive", static_cast<std::size_t>(count * ranks));
    comm->allgather(exec, send.data(), receive.data(), count, DType::f32)->wait(exec);
    const auto result = to_host(receive);
    for (int r = 0; r < ranks; ++r) {
      for (index_t i = 0; i < count; ++i) EXPECT_EQ(result[static_cast<std::size_t>(r * count + i)], value(r, i));
    }
  }
}

TEST_P(Operations, AllgathervOfUnevenAndEmptyBlocks) {
  for (const index_t base : {0, 1, 50, 1000}) {
    const auto size_of_rank = [&](int r) { return r == 1 ? 0 : base + r; };
    const auto bytes = own<std::int8_t>(size_of_rank(rank));
    const auto send = to_device(bytes);
    const index_t capacity = (base + 4 + gather_alignment) / gather_alignment * gather_alignment * ranks;
    const Vector<std::int8_t> receive("receive", static_cast<std::size_t>(capacity));
    GatherSizes sizes;
    comm->allgatherv(exec, reinterpret_cast<const std::byte*>(send.data()), size_of_rank(rank),
                     reinterpret_cast<std::byte*>(receive.data()), capacity, sizes)
        ->wait(exec);
    const auto result = to_host(receive);
    for (int r = 0; r < ranks; ++r) {
      const auto offset = sizes.offset[static_cast<std::size_t>(r)];
      EXPECT_EQ(offset % gather_alignment, 0);
      EXPECT_EQ(sizes.size[static_cast<std::size_t>(r)], size_of_rank(r));
      for (index_t i = 0; i < size_of_rank(r); ++i)
        EXPECT_EQ(result[static_cast<std::size_t>(offset + i)], value(r, i));
    }
  }
}

TEST_P(Operations, AllgathervThatDoesNotFitThrowsOnEveryRank) {
  const std::vector<std::byte> send(static_cast<std::size_t>(rank == 0 ? 1000 : 1));
  std::vector<std::byte> receive(100);
  GatherSizes sizes;
  EXPECT_THROW(comm->allgatherv(exec, send.data(), static_cast<index_t>(send.size()), receive.data(), 100, sizes),
               Error);
}

TEST_P(Operations, AlltoallAndReduceScatter) {
  for (const index_t count : counts) {
    const auto send = to_device(own<float>(count * ranks));
    const Vector<float> blocks("blocks", static_cast<std::size_t>(count * ranks));
    comm->alltoall(exec, send.data(), blocks.data(), count, DType::f32)->wait(exec);
    const Vector<float> mine("mine", static_cast<std::size_t>(count));
    comm->reduce_scatter(exec, send.data(), mine.data(), count, DType::f32, ReduceOp::sum)->wait(exec);
    const auto all = to_host(blocks), sum = to_host(mine);
    for (index_t i = 0; i < count; ++i) {
      for (int r = 0; r < ranks; ++r) {
        EXPECT_EQ(all[static_cast<std::size_t>(r * count + i)], value(r, rank * count + i));
      }
      EXPECT_EQ(sum[static_cast<std::size_t>(i)], reduced(ReduceOp::sum, ranks, rank * count + i));
    }
  }
}

/// Bytes that rank s sends to rank r: some nothing, some nobody.
index_t part_of(int s, int r, index_t base) { return s == 1 || r == 2 ? 0 : base * r + s; }

TEST_P(Operations, AlltoallvOfUnevenAndEmptyParts) {
  for (const index_t base : {0, 1, 50, 1000}) {
    GatherSizes parts;
    index_t end = 3;  // parts may lie anywhere
    for (int r = 0; r < ranks; ++r) {
      parts.size.push_back(part_of(rank, r, base));
      parts.offset.push_back(end);
      end += parts.size.back() + 5;
    }
    const auto send = to_device(own<std::int8_t>(end));
    const index_t capacity = ranks * (base * ranks + ranks + gather_alignment);
    const Vector<std::int8_t> receive("receive", static_cast<std::size_t>(capacity));
    PartSizes sizes;
    comm->alltoallv(exec, reinterpret_cast<const std::byte*>(send.data()), parts,
                    reinterpret_cast<std::byte*>(receive.data()), capacity, sizes)
        ->wait(exec);
    const auto result = to_host(receive);
    for (int s = 0; s < ranks; ++s) {
      const auto offset = sizes.received.offset[static_cast<std::size_t>(s)];
      EXPECT_EQ(offset % gather_alignment, 0);
      EXPECT_EQ(sizes.received.size[static_cast<std::size_t>(s)], part_of(s, rank, base));
      index_t first = 3;  // where rank s has what it sends here
      for (int r = 0; r < rank; ++r) first += part_of(s, r, base) + 5;
      for (index_t i = 0; i < part_of(s, rank, base); ++i)
        EXPECT_EQ(result[static_cast<std::size_t>(offset + i)], value(s, first + i));
      for (int r = 0; r < ranks; ++r)
        EXPECT_EQ(sizes.all[static_cast<std::size_t>(s * ranks + r)], part_of(s, r, base));
    }
  }
}

TEST_P(Operations, AlltoallvThatDoesNotFitThrowsOnEveryRank) {
  GatherSizes parts;
  parts.size.assign(static_cast<std::size_t>(ranks), 1);
  parts.offset.assign(static_cast<std::size_t>(ranks), 0);
  if (rank == 0) parts.size.back() = 1000;  // for the last rank only
  const std::vector<std::byte> send(1000);
  std::vector<std::byte> receive(900);
  PartSizes sizes;
  EXPECT_THROW(comm->alltoallv(exec, send.data(), parts, receive.data(), 900, sizes), Error);
  parts.size.pop_back();
  EXPECT_THROW(comm->alltoallv(exec, send.data(), parts, receive.data(), 900, sizes), Error);
}

TEST_P(Operations, ReduceScatterOfHalfFloats) {
  using kernels::Half;
  const index_t count = 9;
  std::vector<std::uint16_t> x;
  for (index_t i = 0; i < count * ranks; ++i) x.push_back(Half::encode(static_cast<float>(value(rank, i))));
  const auto send = to_device(x);
  const Vector<std::uint16_t> mine("mine", static_cast<std::size_t>(count));
  comm->reduce_scatter(exec, send.data(), mine.data(), count, DType::f16, ReduceOp::sum)->wait(exec);
  const auto result = to_host(mine);
  for (index_t i = 0; i < count; ++i) {
    EXPECT_EQ(Half::decode(result[static_cast<std::size_t>(i)]), reduced(ReduceOp::sum, ranks, rank * count + i));
  }
}

TEST_P(Operations, BroadcastFromEveryRoot) {
  for (const index_t count : counts) {
    for (int root = 0; root < ranks; ++root) {
      const auto data = to_device(own<std::int32_t>(count));
      comm->broadcast(exec, data.data(), count, DType::i32, root)->wait(exec);
      const auto result = to_host(data);
      for (index_t i = 0; i < count; ++i) EXPECT_EQ(result[static_cast<std::size_t>(i)], value(root, i));
    }
  }
}

TEST_P(Operations, SendToRankZeroFromAnySource) {
  if (rank != 0) {
    const auto data = to_device(own<float>(20));
    comm->send(exec, data.data(), 20, DType::f32, 0, 5)->wait(exec);
  } else {
    int sum = 0;
    for (int i = 1; i < ranks; ++i) {
      const Vector<float> data("data", 20);
      int source = -1;
      comm->receive(exec, data.data(), 20, DType::f32, -1, 5, &source)->wait(exec);
      const auto result = to_host(data);
      for (index_t j = 0; j < 20; ++j) EXPECT_EQ(result[static_cast<std::size_t>(j)], value(source, j));
      sum += source;
    }
    EXPECT_EQ(sum, ranks * (ranks - 1) / 2);
  }
  EXPECT_THROW(comm->send(exec, nullptr, 0, DType::f32, 0, -1), Error);
  EXPECT_THROW(comm->send(exec, nullptr, 0, DType::f32, 0, 40000), Error);
}

TEST_P(Operations, SizedMessagesFromEveryRankToTheNext) {
  for (const index_t base : {0, 1, 50, 1000}) {
    const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    if (ranks == 1) return;
    const auto send = to_device(own<std::int8_t>(base + rank));
    const Vector<std::int8_t> receive("receive", static_cast<std::size_t>(base + ranks));
    index_t bytes = -1;
    const auto give = [&] {
      comm->send_sized(exec, reinterpret_cast<const std::byte*>(send.data()), base + rank, next, 3)->wait(exec);
    };
    if (rank != 0) give();  // rank 0 receives first: no ring of blocked senders
    comm->receive_sized(exec, reinterpret_cast<std::byte*>(receive.data()), base + ranks, previous, 3, &bytes)
        ->wait(exec);
    if (rank == 0) give();
    EXPECT_EQ(bytes, base + previous);
    const auto result = to_host(receive);
    for (index_t i = 0; i < bytes; ++i) EXPECT_EQ(result[static_cast<std::size_t>(i)], value(previous, i));
  }
  EXPECT_THROW(comm->send_sized(exec, nullptr, 0, 0, -1), Error);
  EXPECT_THROW(comm->receive_sized(exec, nullptr, 0, 0, -1, nullptr), Error);
}

TEST_P(Operations, ASizedMessageThatDoesNotFitIsRefused) {
  if (ranks == 1) return;
  const auto part = comm->split(0, rank);  // a message is left behind
  const std::vector<std::byte> send(8);    // so few that MPI keeps them
  std::vector<std::byte> receive(5);
  index_t bytes = 0;
  if (rank == 0) part->send_sized(exec, send.data(), 6, 1, 0)->wait(exec);
  if (rank == 1) {
    EXPECT_THROW(part->receive_sized(exec, receive.data(), 5, 0, 0, &bytes), Error);
    std::vector<std::byte> rest(8);  // take it, so that the communicator can end
    for (index_t left = 6; left > 0;) {
      const index_t chunk = std::min(left, options().chunk_limit);
      part->receive(exec, rest.data(), chunk, DType::u8, 0, 0)->wait(exec);
      left -= chunk;
    }
  }
  part->barrier();
}

TEST_P(Operations, SplitIntoEvenAndOddRanks) {
  const auto part = comm->split(rank % 2, -rank);  // the last rank of each color first
  EXPECT_EQ(part->size(), (ranks + 1 - rank % 2) / 2);
  const auto data = to_device(std::vector<std::int32_t>{rank});
  part->broadcast(exec, data.data(), 1, DType::i32, 0)->wait(exec);
  const int last = (ranks - 1) % 2 == rank % 2 ? ranks - 1 : ranks - 2;
  EXPECT_EQ(to_host(data)[0], last);
}

}  // namespace
}  // namespace gradcomp::test
