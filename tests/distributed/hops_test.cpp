// Our own allreduces. They give the sums of `allreduce`. Those that work hop by hop round 16-bit floats in every hop,
// and rank_order rounds them once.
#include "distributed/training_steps.hpp"
#include "error_of.hpp"
#include "gradcomp/kernels/quantise/casts.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::test {
namespace hops_test {

/// Small integers, whose sums are exact.
std::vector<float> whole_numbers(index_t count, int rank, int step) {
  std::vector<float> g = gradient_values(count, rank, step);
  for (float& x : g) x = std::round(100 * x);
  return g;
}

TEST(Hops, SumAsAllreduceDoesWhereNothingIsRounded) {
  const auto comm = world();
  for (const std::string method : {"fp32", "powersgd:rank=2", "block_top_k:ratio=0.05", "global_qsgd"}) {
    for (const std::string reducer : {"rank_order", "ring", "recursive_doubling", "tree", "hierarchical",
                                      "hierarchical:reducer.ranks_per_node=1"}) {
      Replica ours(parse_method(method + ":reducer=" + reducer), *comm, "overlapped");
      Replica theirs(parse_method(method), *comm, "overlapped");
      for (int step = 0; step < 3; ++step) {
        const auto g = whole_numbers(ours.layout().count(), comm->rank(), step);
        ours.step(step, g);
        theirs.step(step, g);
        const auto a = ours.mean(), b = theirs.mean();
        EXPECT_TRUE(same_bits(*comm, a)) << method << " " << reducer;
        if (method == "fp32" || method == "global_qsgd") {
          EXPECT_EQ(a, b) << method << " " << reducer << " step " << step;
        }
        for (std::size_t i = 0; i < a.size(); ++i) {  // sums of PowerSGD's factors depend on the order
          ASSERT_NEAR(a[i], b[i], 1e-3F * (1 + std::abs(b[i]))) << method << " " << reducer << " element " << i;
        }
      }
    }
  }
}

/// 16 bits hold these integers and their sums, so that the width of a level does not change the result.
TEST(Hops, OfTwoLevelsHaveAWidthForEach) {
  const auto comm = world();
  if (comm->size() % 2 != 0) return;
  const std::string two = ":reducer=hierarchical:reducer.ranks_per_node=2";
  const auto bytes_of = [&](const std::string& spec) {
    Replica ours(parse_method(spec), *comm, "overlapped"), theirs(parse_method("fp32"), *comm, "overlapped");
    auto g = whole_numbers(ours.layout().count(), comm->rank(), 1);
    for (float& x : g) x = std::remainder(x, 32.0F);
    const StepReport report = ours.step(1, g);
    theirs.step(1, g);
    EXPECT_EQ(ours.mean(), theirs.mean()) << spec;
    return sum_over_ranks(*comm, {report.wire_bytes})[0];
  };
  const index_t whole = bytes_of("fp32" + two), inside = bytes_of("fp32" + two + ":reducer.inside=bf16");
  const index_t across = bytes_of("fp32" + two + ":reducer.across=fp16");
  const index_t both = bytes_of("fp32" + two + ":reducer.inside=fp16:reducer.across=bf16");
  EXPECT_EQ(2 * both, whole);
  EXPECT_EQ(inside + across, whole + both) << "each level has its own width";
  if (comm->size() == 2) {
    EXPECT_EQ(across, whole) << "with one node, nothing travels across nodes";
  } else {
    EXPECT_LT(across, whole);
  }
}

TEST(Hops, OfTwoLevelsRoundWhatTravelsAcrossAndNoMore) {
  const auto comm = world();
  const int ranks = comm->size();
  if (ranks != 4) return;
  const std::string spec = "fp32:reducer=hierarchical:reducer.ranks_per_node=2:reducer.across=bf16";
  Replica run(parse_method(spec), *comm, "synchronous");
  run.step(0);
  const auto mean = run.mean();
  EXPECT_TRUE(same_bits(*comm, mean)) << "a rank that sends a sum must keep the same bits that the others get";
  std::vector<std::vector<float>> shares;
  for (int r = 0; r < ranks; ++r) shares.push_back(gradient_values(run.layout().count(), r, 0));
  const auto rounded = [](float x) { return kernels::Bfloat::decode(kernels::Bfloat::encode(x)); };
  index_t rounds = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const float one = shares[0][i] / 4 + shares[1][i] / 4, two = shares[2][i] / 4 + shares[3][i] / 4;
    const bool first = mean[i] == rounded(one + rounded(two)), second = mean[i] == rounded(rounded(one) + two);
    EXPECT_TRUE(first || second) << "element " << i;
    if (!first && !second) break;
    rounds += mean[i] != one + two ? 1 : 0;
  }
  EXPECT_GT(rounds, std::ssize(mean) / 2);
}

/// With eight bits, each rounding changes a value by at most half a step of its block, and a step is at most a 64th of
/// the largest value of the block.
TEST(Hops, OfTwoLevelsInEightBitsStayNearTheMean) {
  const auto comm = world();
  const int ranks = comm->size();
  if (ranks == 1) return;
  for (const char* level : {"inside", "across"}) {
    const int per_node = level == std::string("inside") ? ranks : 1;
    const std::string two = fmt::format("fp32:reducer=hierarchical:reducer.ranks_per_node={}", per_node);
    Replica narrow(parse_method(fmt::format("{}:reducer.{}=int8", two, level)), *comm, "overlapped");
    Replica whole(parse_method(two), *comm, "overlapped");
    const StepReport report = narrow.step(0), plain = whole.step(0);
    const auto a = narrow.mean(), b = whole.mean();
    EXPECT_TRUE(same_bits(*comm, a)) << level << ": a value that is sent on must narrow to the same bytes again";
    float largest = 0;
    for (const float x : b) largest = std::max(largest, std::abs(x));
    index_t changed = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_NEAR(a[i], b[i], largest * static_cast<float>(ranks) * ranks / 64) << level << " element " << i;
      changed += a[i] != b[i] ? 1 : 0;
    }
    EXPECT_GT(changed, std::ssize(a) / 2) << level;
    EXPECT_LT(report.wire_bytes, plain.wire_bytes * 3 / 10) << level << ": 257 / 1024, and a byte for each short block";
  }
}

TEST(Hops, OfTwoLevelsCarryANanInFewerBitsToo) {
  const auto comm = world();
  for (const char* width : {"bf16", "fp16", "int8"}) {
    const std::string levels = fmt::format(":reducer.inside={}:reducer.across={}", width, width);
    Replica run(parse_method("fp32:reducer=hierarchical:reducer.ranks_per_node=1" + levels), *comm, "overlapped");
    run.spoilt_step(0, comm->size() - 1, run.mean().size() / 2);
    EXPECT_TRUE(run.diverged()) << width;
  }
}

TEST(Hops, OfTwoLevelsRoundValuesOf32BitsAlone) {
  const auto comm = world();
  const std::string across = ":reducer=hierarchical:reducer.ranks_per_node=1:reducer.across=bf16";
  if (comm->size() == 1) return;  // nothing travels
  for (const char* method : {"fp16", "global_qsgd"}) {
    Replica run(parse_method(method + across), *comm, "synchronous");
    try {
      run.step(0);
      ADD_FAILURE() << method;
    } catch (const AgreedError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(fmt::format("method {} sends no 32-bit values", method)));
    }
  }
}

/// The transport may emulate nodes.
TEST(Hops, OfTwoLevelsTakeTheNodesOfTheTransport) {
  const auto comm = world();
  const auto of_one = make_transport("mpi:ranks_per_node=1", MPI_COMM_WORLD);
  EXPECT_EQ(of_one->ranks_per_node(), 1);
  EXPECT_EQ(of_one->split(0, comm->rank())->ranks_per_node(), 1);
  const std::string wrong = fmt::format("mpi:ranks_per_node={}", comm->size() + 1);
  EXPECT_THROW(make_transport(wrong, MPI_COMM_WORLD), AgreedError);
}

TEST(Hops, OfTwoLevelsKnowTheNodesOrAreTold) {
  const auto comm = world();
  EXPECT_EQ(comm->ranks_per_node(), comm->size()) << "all ranks of this test are on one machine";
  const auto alone = comm->split(comm->rank(), 0);
  EXPECT_EQ(alone->ranks_per_node(), 1);
  const std::string halves = fmt::format("{}", comm->size() / 2);
  if (comm->size() % 2 == 0) {
    Replica run(parse_method("fp32:reducer=hierarchical:reducer.ranks_per_node=" + halves), *comm, "synchronous");
    Replica plain(parse_method("fp32"), *comm, "synchronous");
    const auto g = whole_numbers(run.layout().count(), comm->rank(), 0);
    run.step(0, g);
    plain.step(0, g);
    EXPECT_EQ(run.mean(), plain.mean());
  } else if (comm->size() > 1) {
    EXPECT_THROW(Replica(parse_method("fp32:reducer=hierarchical:reducer.ranks_per_node=2"), *comm, "synchronous"),
                 AgreedError);
  }
}

/// A transport whose messages lose their last byte.
class Shortening final : public Transport {
 public:
  explicit Shortening(std::unique_ptr<Transport> inner) : m_inner(std::move(inner)) {}

  int rank() const override { return m_inner->rank(); }
  int size() const override { return m_inner->size(); }
  std::string name() const override { return m_inner->name(); }
  bool overlaps() const override { return m_inner->overlaps(); }
  bool concurrent() const override { return m_inner->concurrent(); }
  Completion start(const Exec& exec, std::span<const Call> together) override {
    std::vector<Call> calls(together.begin(), together.end());
    for (Call& call : calls) {
      if (auto* send = std::get_if<Send>(&call)) --send->bytes;
    }
    return m_inner->start(exec, calls);
  }
  std::unique_ptr<Transport> split(int color, int key) override {
    return std::make_unique<Shortening>(m_inner->split(color, key));
  }

 private:
  std::unique_ptr<Transport> m_inner;
};

/// In the first hop of a ring, every rank receives a message that is too short.
TEST(Hops, AMessageThatIsTooShortIsAnError) {
  Shortening comm(world());
  if (comm.size() == 1) return;  // nothing travels
  Replica run(parse_method("fp32:reducer=ring"), comm, "synchronous");
  EXPECT_THAT(error_of([&] { run.step(0); }), testing::HasSubstr("expected: "));
}

/// The sum of one value of each rank in a ring of `ranks` ranks that starts at rank `first`.
float ring_of_bfloats(const std::vector<float>& values, int first) {
  const auto ranks = static_cast<int>(values.size());
  using kernels::Bfloat;
  std::uint16_t sum = Bfloat::encode(values[static_cast<std::size_t>(first)]);
  for (int hop = 1; hop < ranks; ++hop) {
    const float next = Bfloat::decode(Bfloat::encode(values[static_cast<std::size_t>((first + hop) % ranks)]));
    sum = Bfloat::encode(Bfloat::decode(sum) + next);
  }
  return Bfloat::decode(sum);
}

/// The sum of one value of each rank in rank order, rounded at the end.
float bfloats_in_rank_order(const std::vector<float>& values) {
  using kernels::Bfloat;
  float sum = 0;
  for (const float x : values) sum += Bfloat::decode(Bfloat::encode(x));
  return Bfloat::decode(Bfloat::encode(sum));
}

/// What each rank sends in step 0, [rank][element].
std::vector<std::vector<float>> shares_of(int ranks, index_t count) {
  std::vector<std::vector<float>> shares;
  for (int r = 0; r < ranks; ++r) {
    shares.push_back(gradient_values(count, r, 0));
    for (float& x : shares.back()) x /= static_cast<float>(ranks);
  }
  return shares;
}

TEST(Hops, RankOrderAddsBfloatsInThisOrderAndRoundsOnce) {
  const auto comm = world();
  for (const std::string schedule : {"synchronous", "overlapped"}) {
    Replica run(parse_method("bf16:reducer=rank_order"), *comm, schedule);
    run.step(0);
    const auto mean = run.mean();
    const auto shares = shares_of(comm->size(), run.layout().count());
    for (std::size_t i = 0; i < mean.size(); ++i) {
      std::vector<float> values;
      for (const auto& share : shares) values.push_back(share[i]);
      ASSERT_EQ(mean[i], bfloats_in_rank_order(values)) << schedule << " element " << i;
    }
  }
}

TEST(Hops, ARingRoundsBfloatsInEveryHop) {
  const auto comm = world();
  Replica run(parse_method("bf16:reducer=ring"), *comm, "synchronous");
  const index_t n = run.layout().count();
  const int ranks = comm->size();
  run.step(0);
  const auto mean = run.mean();
  const auto shares = shares_of(ranks, n);
  index_t different = 0;
  for (const BucketRange& bucket : run.exchange().buckets()) {
    for (int part = 0; part < ranks; ++part) {
      for (index_t i = bucket.count * part / ranks; i < bucket.count * (part + 1) / ranks; ++i) {
        const auto at = static_cast<std::size_t>(bucket.offset + i);
        std::vector<float> values;
        for (const auto& share : shares) values.push_back(share[at]);
        ASSERT_EQ(mean[at], ring_of_bfloats(values, part)) << "element " << at;
        different += mean[at] != bfloats_in_rank_order(values) ? 1 : 0;
      }
    }
  }
  if (ranks <= 2) {
    EXPECT_EQ(different, 0) << "a single hop rounds once";
  } else {
    EXPECT_GT(different, n / 100) << "rank_order rounds once, a ring in every hop";
  }
}

}  // namespace hops_test
}  // namespace gradcomp::test
