// Allreduces of our own, hop by hop: the sums of `allreduce`, and with 16-bit floats a rounding in every hop.
#include "distributed/training_steps.hpp"
#include "gradcomp/kernels/casts.hpp"

namespace gradcomp::test {
namespace {

/// Small whole numbers, whose sums no rounding changes.
std::vector<float> whole_numbers(index_t count, int rank, int step) {
  std::vector<float> g = gradient_values(count, rank, step);
  for (float& x : g) x = std::round(100 * x);
  return g;
}

TEST(Hops, SumAsAllreduceDoesWhereNothingIsRounded) {
  const auto comm = world();
  for (const std::string method : {"fp32", "powersgd:rank=2", "block_top_k:ratio=0.05", "global_qsgd"}) {
    for (const std::string reducer :
         {"ring", "recursive_doubling", "tree", "hierarchical", "hierarchical:reducer.ranks_per_node=1"}) {
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
        for (std::size_t i = 0; i < a.size(); ++i) {  // sums of PowerSGD's factors have an order
          ASSERT_NEAR(a[i], b[i], 1e-3F * (1 + std::abs(b[i]))) << method << " " << reducer << " element " << i;
        }
      }
    }
  }
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

/// What a ring of `ranks` makes of one value of each rank, which starts at rank `first`.
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

TEST(Hops, ARingRoundsBfloatsInEveryHop) {
  const auto comm = world();
  Replica run(parse_method("bf16:reducer=ring"), *comm, "synchronous");
  const index_t n = run.layout().count();
  const int ranks = comm->size();
  run.step(0);
  const auto mean = run.mean();
  std::vector<std::vector<float>> shares;  // what each rank sends
  for (int r = 0; r < ranks; ++r) {
    shares.push_back(gradient_values(n, r, 0));
    for (float& x : shares.back()) x /= static_cast<float>(ranks);
  }
  index_t different = 0;
  for (const BucketRange& bucket : run.exchange().buckets()) {
    for (int part = 0; part < ranks; ++part) {
      for (index_t i = bucket.count * part / ranks; i < bucket.count * (part + 1) / ranks; ++i) {
        const auto at = static_cast<std::size_t>(bucket.offset + i);
        std::vector<float> values;
        double sum = 0;
        for (const auto& share : shares) {
          values.push_back(share[at]);
          sum += kernels::Bfloat::decode(kernels::Bfloat::encode(share[at]));
        }
        ASSERT_EQ(mean[at], ring_of_bfloats(values, part)) << "element " << at;
        different += mean[at] != kernels::Bfloat::decode(kernels::Bfloat::encode(static_cast<float>(sum))) ? 1 : 0;
      }
    }
  }
  if (ranks <= 2) {
    EXPECT_EQ(different, 0) << "one hop rounds once";
  } else {
    EXPECT_GT(different, n / 100) << "an allreduce rounds once, a ring in every hop";
  }
}

}  // namespace
}  // namespace gradcomp::test
