// The ring that compresses sums again in every hop: all ranks have equal bits, memories keep what is lost, and flags
// and bytes are right.
#include "distributed/training_steps.hpp"
#include "gradcomp/exchange/one_rank.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::test {
namespace requantising_ring_test {

MethodSpec round_the_ring(const std::string& method) {
  return parse_method(with_option(method, "reducer", "requantising_ring"));
}

const char* const quantisers[] = {"int8_block",
                                  "qsgd:bits=4",
                                  "ef_sign",
                                  "one_bit",
                                  "natural",
                                  "fp8_e4m3:feedback=residual",
                                  "terngrad:code=2bit",
                                  "qsgd:coding=elias",
                                  "ef_sign+huffman",
                                  "int8_block:granularity=tensor"};

TEST(RequantisingRing, GivesTheSameBitsOnEveryRank) {
  const auto comm = world();
  for (const char* method : quantisers) {
    for (const char* schedule : {"overlapped", "synchronous"}) {
      Replica run(round_the_ring(method), *comm, schedule);
      for (int step = 0; step < 3; ++step) {
        run.step(step);
        EXPECT_TRUE(same_bits(*comm, run.mean())) << method << " " << schedule;
      }
      EXPECT_FALSE(run.diverged()) << method;
    }
  }
}

/// P out + the sum of the memories = the sum of all gradients so far.
TEST(RequantisingRing, LosesNothingThatAMemoryDoesNotHave) {
  const auto comm = world();
  for (const char* method : {"int8_block:feedback=residual", "qsgd:bits=8:feedback=residual", "ef_sign", "one_bit"}) {
    Replica run(round_the_ring(method), *comm, "overlapped");
    const auto n = static_cast<std::size_t>(run.layout().count());
    std::vector<float> balance(n, 0.0F);
    for (int step = 0; step < 4; ++step) {
      const auto g = run.own_gradient(step);
      run.step(step, g);
      const auto mean = run.mean();
      for (std::size_t i = 0; i < n; ++i) balance[i] += g[i] - mean[i];
    }
    const auto left = run.residual();
    for (std::size_t i = 0; i < n; ++i) balance[i] -= left[i];
    const auto sum = sum_over_all(*comm, balance);
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(sum[i], 0, 2e-5 * comm->size()) << method << " element " << i;
  }
}

/// Each hop compresses a sum of 1, 2, ... P shares. Its error is at most half a quantum of the largest value of that
/// sum.
TEST(RequantisingRing, ErrorsOfAllHopsAddUp) {
  const auto comm = world();
  const int ranks = comm->size();
  Replica run(round_the_ring("int8_block"), *comm, "synchronous");
  run.step(0);
  const auto mean = run.mean();
  std::vector<double> exact(mean.size(), 0);
  double largest = 0;
  for (int r = 0; r < ranks; ++r) {
    const auto g = gradient_values(std::ssize(mean), r, 0);
    double own = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      exact[i] += g[i] / ranks;
      own = std::max(own, std::abs(static_cast<double>(g[i])));
    }
    largest += own;
  }
  double error = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) error = std::max(error, std::abs(mean[i] - exact[i]));
  EXPECT_LE(error, largest / 254 * 1.01);  // P errors of at most (sum of all shares) / 127 / 2, divided by P
  EXPECT_GT(error, 1e-5) << "something was rounded";
}

TEST(RequantisingRing, IsUnbiasedWhereTheMethodIs) {
  const auto comm = world();
  Replica run(round_the_ring("qsgd:bits=4:feedback=none"), *comm, "overlapped");
  constexpr int steps = 400;
  const auto g = run.own_gradient(0);
  const auto n = g.size();
  std::vector<double> sum(n, 0), squares(n, 0);
  for (int step = 0; step < steps; ++step) {  // every step has other random numbers
    run.step(step, g);
    const auto mean = run.mean();
    for (std::size_t i = 0; i < n; ++i) {
      sum[i] += mean[i];
      squares[i] += static_cast<double>(mean[i]) * mean[i];
    }
  }
  const auto exact = sum_over_all(*comm, g);
  double errors = 0, variances = 0;  // summed over all means
  for (std::size_t i = 0; i < n; ++i) {
    const double mean = sum[i] / steps, error = mean - exact[i] / comm->size();
    errors += error * error;
    variances += (squares[i] / steps - mean * mean) / steps;
  }
  EXPECT_GT(variances, 0);
  EXPECT_NEAR(errors / variances, 1, 0.2) << "a bias does not fall with the number of steps";
}

TEST(RequantisingRing, HandsAFlagRound) {
  const auto comm = world();
  for (const char* method : quantisers) {
    for (int bad = 0; bad < comm->size(); ++bad) {
      Replica run(round_the_ring(method), *comm, "overlapped");
      run.step(0);
      run.spoilt_step(1, bad, run.mean().size() / 2);
      EXPECT_TRUE(run.diverged()) << method << " " << bad;
      EXPECT_TRUE(all_finite(run.residual())) << method << " " << bad;
    }
  }
}

/// On all ranks together, a payload travels P - 1 hops as a sum and reaches P - 1 ranks as the mean.
TEST(RequantisingRing, SendsTwiceThePayloadLessItsOwnShare) {
  const auto comm = world();
  Replica run(round_the_ring("int8_block"), *comm, "synchronous");
  const StepReport report = run.step(0);
  const auto buckets = static_cast<index_t>(run.exchange().buckets().size());
  const index_t ranks = comm->size(), payload = report.payload_bytes + report.header_bytes;
  const index_t sizes = 8 * ranks * (ranks - 1) * buckets;  // the allgather sends the sizes to all ranks
  EXPECT_EQ(sum_over_ranks(*comm, std::vector{report.wire_bytes})[0], 2 * (ranks - 1) * payload + sizes);
}

TEST(RequantisingRing, RefusesWhatWouldScaleTheSharesOfOthers) {
  const auto comm = world();
  for (const char* method : {"ef_sign:feedback.gamma=0.5", "int8_block:feedback=residual:feedback.clip=1"}) {
    EXPECT_THROW(Replica(round_the_ring(method), *comm, "overlapped"), AgreedError) << method;
  }
  for (const char* method : {"fp32", "top_k", "sign", "powersgd"})
    EXPECT_THROW(round_the_ring(method), Error) << method;
}

}  // namespace requantising_ring_test
}  // namespace gradcomp::test
