// Every operation of a transport against exact references. The data are integers whose sums are exact in every type, so
// that results do not depend on the order of summation. The tests run over every registered transport, over MPI with
// chunks of 7 elements and staged, and over every wrapper.
#include <algorithm>
#include <cmath>

#include "distributed/kinds.hpp"
#include "gradcomp/kernels/quantise/casts.hpp"

namespace gradcomp::test {
namespace operations_test {

const index_t counts[] = {0, 1, 2, 3, 5, 8, 13, 100, 1001};

/// A small integer that depends on the rank and on the place.
int value(int rank, index_t i) { return static_cast<int>((i * 7 + rank * 3) % 11) - 5; }

int reduced(ReduceOp op, int ranks, index_t i) {
  int result = value(0, i);
  for (int r = 1; r < ranks; ++r) {
    const int v = value(r, i);
    result = op == ReduceOp::sum ? result + v : op == ReduceOp::max ? std::max(result, v) : std::min(result, v);
  }
  return result;
}

class Operations : public OverKind {
 protected:
  template <class T>
  std::vector<T> own(index_t count, index_t first = 0) const {
    std::vector<T> x(static_cast<std::size_t>(count));
    for (index_t i = 0; i < count; ++i) x[static_cast<std::size_t>(i)] = static_cast<T>(value(rank, first + i));
    return x;
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, Operations,
                         testing::ValuesIn(kinds({"chunked", "aware", "aware_chunked", "staged", "callbacks",
                                                  "counting", "queued", "throttled"})),
                         test_name);

template <class T>
void expect_allreduce(Transport& comm, DType type, const std::vector<T>& own, ReduceOp op, bool in_place) {
  const Exec exec;
  const auto send = to_device(own);
  const auto receive = in_place ? send : Vector<T>("receive", own.size());
  run(comm, exec, AllReduce{send.data(), receive.data(), static_cast<index_t>(own.size()), type, op});
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
  run(*comm, exec, AllReduce{bits.data(), bits.data(), 19, DType::u8, ReduceOp::bor});
  for (const auto b : to_host(bits)) EXPECT_EQ(b, (1u << ranks) - 1);
  if (ranks > 1) {
    for (const DType type : {DType::f32, DType::f16}) {
      EXPECT_THROW(run(*comm, exec, AllReduce{bits.data(), bits.data(), 1, type, ReduceOp::bor}), Error);
    }
  }
}

template <class Format>
void expect_half(Transport& comm, index_t count, ReduceOp op, bool in_place) {
  const Exec exec;
  std::vector<std::uint16_t> own(static_cast<std::size_t>(count));
  for (index_t i = 0; i < count; ++i) {
    own[static_cast<std::size_t>(i)] = Format::encode(static_cast<float>(value(comm.rank(), i)));
  }
  const auto send = to_device(own);
  const auto receive = in_place ? send : Vector<std::uint16_t>("receive", own.size());
  run(comm, exec, AllReduce{send.data(), receive.data(), count, Format::dtype, op});
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

// Every partial sum of these terms is a multiple of 2^-7 below 2, which bf16 holds, in any order.
TEST_P(Operations, HalfSumsThatTheFormatHoldsAreExact) {
  using kernels::Bfloat;
  const auto data = to_device(std::vector<std::uint16_t>(5, Bfloat::encode(rank == 0 ? 1.0f : 0x1p-7f)));
  run(*comm, exec, AllReduce{data.data(), data.data(), 5, DType::bf16, ReduceOp::sum});
  const float expected = 1.0f + static_cast<float>(ranks - 1) * 0x1p-7f;
  for (const auto b : to_host(data)) EXPECT_EQ(Bfloat::decode(b), expected);
}

TEST_P(Operations, ANanOfOneRankReachesAll) {
  const std::uint16_t nan = kernels::Half::encode(Kokkos::Experimental::quiet_NaN_v<float>);
  const auto data = to_device(std::vector<std::uint16_t>(3, rank == ranks - 1 ? nan : std::uint16_t{0}));
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max, ReduceOp::min}) {
    const Vector<std::uint16_t> result("result", 3);
    run(*comm, exec, AllReduce{data.data(), result.data(), 3, DType::f16, op});
    for (const auto b : to_host(result)) EXPECT_TRUE(std::isnan(kernels::Half::decode(b)));
  }
}

// Sums of these fractions depend on the order, so that equal bits are not a property of the data.
TEST_P(Operations, AllreduceGivesTheSameBitsOnEveryRank) {
  std::vector<float> x(1001);
  std::vector<std::uint16_t> halves;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = 1.0f / static_cast<float>(1 + static_cast<int>(i) * 5 + rank * 3);
    halves.push_back(kernels::Bfloat::encode(x[i]));
  }
  const auto data = to_device(x);
  run(*comm, exec, AllReduce{data.data(), data.data(), 1001, DType::f32, ReduceOp::sum});
  EXPECT_TRUE(same_bits(*comm, to_host(data)));
  const auto half = to_device(halves);
  run(*comm, exec, AllReduce{half.data(), half.data(), 1001, DType::bf16, ReduceOp::sum});
  EXPECT_TRUE(same_bits(*comm, to_host(half)));
}

TEST_P(Operations, Allgather) {
  for (const index_t count : counts) {
    const auto send = to_device(own<float>(count));
    const Vector<float> receive("receive", static_cast<std::size_t>(count * ranks));
    run(*comm, exec, AllGather{send.data(), receive.data(), count, DType::f32});
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
    const index_t capacity = (base + 4 + block_alignment) / block_alignment * block_alignment * ranks;
    const Vector<std::int8_t> receive("receive", static_cast<std::size_t>(capacity));
    const Blocks sizes = run(*comm, exec,
                             AllGatherV{reinterpret_cast<const std::byte*>(send.data()), size_of_rank(rank),
                                        reinterpret_cast<std::byte*>(receive.data()), capacity})
                             .blocks;
    const auto result = to_host(receive);
    for (int r = 0; r < ranks; ++r) {
      const auto offset = sizes.offset[static_cast<std::size_t>(r)];
      EXPECT_EQ(offset % block_alignment, 0);
      EXPECT_EQ(sizes.size[static_cast<std::size_t>(r)], size_of_rank(r));
      for (index_t i = 0; i < size_of_rank(r); ++i)
        EXPECT_EQ(result[static_cast<std::size_t>(offset + i)], value(r, i));
    }
  }
}

TEST_P(Operations, AllgathervThatDoesNotFitThrowsOnEveryRank) {
  const std::vector<std::byte> send(static_cast<std::size_t>(rank == 0 ? 1000 : 1));
  std::vector<std::byte> receive(100);
  EXPECT_THROW(run(*comm, exec, AllGatherV{send.data(), static_cast<index_t>(send.size()), receive.data(), 100}),
               Error);
}

TEST_P(Operations, AlltoallAndReduceScatter) {
  for (const index_t count : counts) {
    const auto send = to_device(own<float>(count * ranks));
    const Vector<float> blocks("blocks", static_cast<std::size_t>(count * ranks));
    run(*comm, exec, AllToAll{send.data(), blocks.data(), count, DType::f32});
    const Vector<float> mine("mine", static_cast<std::size_t>(count));
    run(*comm, exec, ReduceScatter{send.data(), mine.data(), count, DType::f32, ReduceOp::sum});
    const auto all = to_host(blocks), sum = to_host(mine);
    for (index_t i = 0; i < count; ++i) {
      for (int r = 0; r < ranks; ++r) {
        EXPECT_EQ(all[static_cast<std::size_t>(r * count + i)], value(r, rank * count + i));
      }
      EXPECT_EQ(sum[static_cast<std::size_t>(i)], reduced(ReduceOp::sum, ranks, rank * count + i));
    }
  }
}

/// Bytes that rank s sends to rank r. Rank 1 sends nothing, and rank 2 receives nothing.
index_t part_of(int s, int r, index_t base) { return s == 1 || r == 2 ? 0 : base * r + s; }

TEST_P(Operations, AlltoallvOfUnevenAndEmptyParts) {
  for (const index_t base : {0, 1, 50, 1000}) {
    Blocks parts;
    index_t end = 3;  // parts may lie anywhere
    for (int r = 0; r < ranks; ++r) {
      parts.size.push_back(part_of(rank, r, base));
      parts.offset.push_back(end);
      end += parts.size.back() + 5;
    }
    const auto send = to_device(own<std::int8_t>(end));
    const index_t capacity = ranks * (base * ranks + ranks + block_alignment);
    const Vector<std::int8_t> receive("receive", static_cast<std::size_t>(capacity));
    const Found sizes = run(*comm, exec,
                            AllToAllV{reinterpret_cast<const std::byte*>(send.data()), &parts,
                                      reinterpret_cast<std::byte*>(receive.data()), capacity});
    const auto result = to_host(receive);
    for (int s = 0; s < ranks; ++s) {
      const auto offset = sizes.blocks.offset[static_cast<std::size_t>(s)];
      EXPECT_EQ(offset % block_alignment, 0);
      EXPECT_EQ(sizes.blocks.size[static_cast<std::size_t>(s)], part_of(s, rank, base));
      index_t first = 3;  // where the part that rank s sends to this rank begins in its memory
      for (int r = 0; r < rank; ++r) first += part_of(s, r, base) + 5;
      for (index_t i = 0; i < part_of(s, rank, base); ++i)
        EXPECT_EQ(result[static_cast<std::size_t>(offset + i)], value(s, first + i));
      for (int r = 0; r < ranks; ++r)
        EXPECT_EQ(sizes.all[static_cast<std::size_t>(s * ranks + r)], part_of(s, r, base));
    }
  }
}

TEST_P(Operations, AlltoallvThatDoesNotFitThrowsOnEveryRank) {
  Blocks parts;
  parts.size.assign(static_cast<std::size_t>(ranks), 1);
  parts.offset.assign(static_cast<std::size_t>(ranks), 0);
  if (rank == 0) parts.size.back() = 1000;  // does not fit on the last rank
  const std::vector<std::byte> send(1000);
  std::vector<std::byte> receive(900);
  EXPECT_THROW(run(*comm, exec, AllToAllV{send.data(), &parts, receive.data(), 900}), Error);
  parts.size.pop_back();
  EXPECT_THROW(run(*comm, exec, AllToAllV{send.data(), &parts, receive.data(), 900}), Error);
}

TEST_P(Operations, ReduceScatterOfHalfFloats) {
  using kernels::Half;
  const index_t count = 9;
  std::vector<std::uint16_t> x;
  for (index_t i = 0; i < count * ranks; ++i) x.push_back(Half::encode(static_cast<float>(value(rank, i))));
  const auto send = to_device(x);
  const Vector<std::uint16_t> mine("mine", static_cast<std::size_t>(count));
  run(*comm, exec, ReduceScatter{send.data(), mine.data(), count, DType::f16, ReduceOp::sum});
  const auto result = to_host(mine);
  for (index_t i = 0; i < count; ++i) {
    EXPECT_EQ(Half::decode(result[static_cast<std::size_t>(i)]), reduced(ReduceOp::sum, ranks, rank * count + i));
  }
}

TEST_P(Operations, BroadcastFromEveryRoot) {
  for (const index_t count : counts) {
    for (int root = 0; root < ranks; ++root) {
      const auto data = to_device(own<std::int32_t>(count));
      run(*comm, exec, Broadcast{data.data(), count, DType::i32, root});
      const auto result = to_host(data);
      for (index_t i = 0; i < count; ++i) EXPECT_EQ(result[static_cast<std::size_t>(i)], value(root, i));
    }
  }
}

TEST_P(Operations, SendToRankZeroFromAnySource) {
  if (rank != 0) {
    const auto data = to_device(own<float>(20));
    run(*comm, exec, Send{data.data(), 80, 0, 5});
  } else {
    int sum = 0;
    for (int i = 1; i < ranks; ++i) {
      const Vector<float> data("data", 20);
      const Found found = run(*comm, exec, Receive{data.data(), 80, any_rank, 5});
      EXPECT_EQ(found.bytes, 80);
      const auto result = to_host(data);
      for (index_t j = 0; j < 20; ++j) EXPECT_EQ(result[static_cast<std::size_t>(j)], value(found.source, j));
      sum += found.source;
    }
    EXPECT_EQ(sum, ranks * (ranks - 1) / 2);
  }
  EXPECT_THROW(run(*comm, exec, Send{nullptr, 0, 0, -1}), Error);
  EXPECT_THROW(run(*comm, exec, Send{nullptr, 0, 0, 40000}), Error);
  EXPECT_THROW(run(*comm, exec, Send{nullptr, 0, ranks, 0}), Error);
}

TEST_P(Operations, MessagesOfAnySizeFromEveryRankToTheNext) {
  if (ranks == 1 && GetParam() == "throttled") GTEST_SKIP() << "no link between a rank and itself";
  for (const index_t base : {0, 1, 6, 7, 50, 1000}) {  // chunks of 7
    const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    const auto send = to_device(own<std::int8_t>(base + rank));
    const Vector<std::int8_t> receive("receive", static_cast<std::size_t>(base + ranks));
    // All ranks send first. If sends blocked, the ring would deadlock.
    Completion sent = comm->start(exec, Send{send.data(), base + rank, next, 3});
    const Found found = run(*comm, exec, Receive{receive.data(), base + ranks, previous, 3});
    sent.wait();
    EXPECT_EQ(found.bytes, base + previous);
    EXPECT_EQ(found.source, previous);
    const auto result = to_host(receive);
    for (index_t i = 0; i < found.bytes; ++i) EXPECT_EQ(result[static_cast<std::size_t>(i)], value(previous, i));
  }
  EXPECT_THROW(run(*comm, exec, Send{nullptr, 0, 0, -1}), Error);
  EXPECT_THROW(run(*comm, exec, Receive{nullptr, 0, 0, -1}), Error);
}

TEST_P(Operations, AMessageThatDoesNotFitIsRefusedAndTheNextOneArrives) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  const std::vector<std::byte> send(30, std::byte{1}), second(2, std::byte{9});
  std::vector<std::byte> receive(10);
  if (rank == 0) {
    run(*comm, exec, Send{send.data(), 30, 1, 0});
    run(*comm, exec, Send{second.data(), 2, 1, 0});
  }
  if (rank == 1) {
    EXPECT_THROW(run(*comm, exec, Receive{receive.data(), 5, 0, 0}), Error);
  }
  if (rank == 1 && GetParam().find("chunked") ==
                       std::string::npos) {  // pieces of a message that does not fit remain, and end the job
    const Found found = run(*comm, exec, Receive{receive.data(), 5, 0, 0});
    EXPECT_EQ(found.bytes, 2);
    EXPECT_EQ(receive[0], std::byte{9});
  }
  barrier(*comm);
}

TEST_P(Operations, SplitIntoEvenAndOddRanks) {
  const auto part = comm->split(rank % 2, -rank);  // the last rank of each group comes first
  EXPECT_EQ(part->size(), (ranks + 1 - rank % 2) / 2);
  const auto data = to_device(std::vector<std::int32_t>{rank});
  run(*part, exec, Broadcast{data.data(), 1, DType::i32, 0});
  const int last = (ranks - 1) % 2 == rank % 2 ? ranks - 1 : ranks - 2;
  EXPECT_EQ(to_host(data)[0], last);
}

}  // namespace operations_test
}  // namespace gradcomp::test
