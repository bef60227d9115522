// two_phase on any number of ranks: equal bits on all ranks, comparison with a plain serial reference, error feedback
// of workers and owners, flags, bytes, and unbiasedness.
#include <array>
#include <atomic>

#include "distributed/two_phase_rig.hpp"
#include "gradcomp/exchange/one_rank.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::test {
namespace two_phase_test {

std::vector<std::string> methods() {
  return {"one_bit",
          "one_bit:threshold=mean",
          "one_bit:granularity=bucket",
          "ef_sign",
          "ef_sign:granularity=bucket",
          "ef_sign:scale=l2:granularity=bucket",
          "int8_block",
          "int8_block:rounding=stochastic:granularity=tensor",
          "fp8_e4m3",
          "fp8_e5m2:rounding=stochastic:granularity=bucket",
          "qsgd",
          "qsgd:bits=8:granularity=tensor",
          "qsgd:coding=elias",
          "ef_sign+huffman",
          "max_min",
          "linear_dithering",
          "natural_dithering:group=512",
          "natural",
          "terngrad:code=2bit",
          "terngrad:code=base3:granularity=tensor"};
}

class TwoPhases : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Transport> comm = world();
  int ranks = comm->size(), rank = comm->rank();
  std::string spec = with_option(GetParam(), "reducer", "two_phase");

  bool remembers() const { return parse_method(spec).common.text("feedback") != "none"; }
};

std::string name_of(const std::string& spec) {
  std::string name = spec;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(TwoPhase, TwoPhases, testing::ValuesIn(methods()),
                         [](const auto& row) { return name_of(row.param); });

std::atomic<int> allocations{0};

TEST_P(TwoPhases, GivesTheSameBitsOnEveryRankAndAllocatesNothing) {
  const Layout layout = network();
  OneBucket run(spec, layout, *comm);
  for (int step = 0; step < 4; ++step) {
    const auto g = gradient_values(layout.count(), rank, step);
    if (step == 2) {
      allocations = 0;
      Kokkos::Tools::Experimental::set_allocate_data_callback(
          [](const Kokkos_Profiling_SpaceHandle, const char*, const void*, const uint64_t bytes) {
            if (bytes > 0) ++allocations;  // on GPUs, Kokkos reports 0 bytes for launches of teams
          });
    }
    EXPECT_TRUE(run.step(step, g));
    if (step == 2) Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
    EXPECT_TRUE(same_bits(*comm, run.values())) << step;
  }
  EXPECT_EQ(allocations.load(), 0);
  EXPECT_GT(run.reduction.work_bytes(), 0);
  EXPECT_EQ(run.owned().size(),
            remembers() ? static_cast<std::size_t>(run.stripes()[static_cast<std::size_t>(rank)].count()) : 0u);
}

// A single rank also does two compressions.
TEST_P(TwoPhases, IsTheSerialReference) {
  const Layout layout = network();
  OneBucket run(spec, layout, *comm);
  Serial serial(run, remembers());
  for (int step = 0; step < 3; ++step) {
    std::vector<std::vector<float>> gradients;
    for (int r = 0; r < ranks; ++r) gradients.push_back(gradient_values(layout.count(), r, step));
    EXPECT_TRUE(run.step(step, gradients[static_cast<std::size_t>(rank)]));
    const auto expected = serial.step(step, gradients), found = run.values();
    EXPECT_EQ(std::memcmp(expected.data(), found.data(), 4 * found.size()), 0) << step;
  }
}

TEST_P(TwoPhases, FeedbackOnBothSidesLosesNothing) {
  if (!remembers()) GTEST_SKIP() << "has no feedback";
  const Layout layout = network();
  OneBucket run(spec, layout, *comm);
  std::vector<double> left(static_cast<std::size_t>(layout.count()), 0.0);
  for (int step = 0; step < 5; ++step) {
    const auto g = gradient_values(layout.count(), rank, step);
    EXPECT_TRUE(run.step(step, g));
    const auto sums = sum_over_all(*comm, g);
    const auto out = run.values();
    for (std::size_t i = 0; i < left.size(); ++i) left[i] += sums[i] / ranks - static_cast<double>(out[i]);
  }
  const auto memories = sum_over_all(*comm, run.memory()), owners = run.all_owned();
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    worst = std::max(worst, std::abs(left[i] - memories[i] / ranks - owners[i]));
    largest = std::max(largest, std::abs(owners[i]));
  }
  EXPECT_LE(worst, 5e-5);
  if (ranks > 1 && spec.find("one_bit:granularity=bucket") == std::string::npos) {
    EXPECT_GT(largest, 1e-4) << "the test needs owners that lose something";
  }
}

TEST_P(TwoPhases, ANanOnOneRankIsSeenOnAllAndEntersNoMemory) {
  const Layout layout = network();
  for (int bad = 0; bad < ranks; ++bad) {
    OneBucket run(spec, layout, *comm);
    EXPECT_TRUE(run.step(0, gradient_values(layout.count(), rank, 0)));
    auto g = gradient_values(layout.count(), rank, 1);
    if (rank == bad) g[static_cast<std::size_t>(layout.count() * (bad + 1) / (ranks + 1))] = std::nanf("");
    EXPECT_FALSE(run.step(1, g)) << bad;
    EXPECT_TRUE(all_finite(run.memory()) && all_finite(run.owned())) << bad;
  }
}

TEST_P(TwoPhases, SendsTheBytesOfTwoPhases) {
  const Layout layout = network();
  OneBucket run(spec, layout, *comm);
  const index_t before = run.comm->ledger().total().sent;
  EXPECT_TRUE(run.step(0, gradient_values(layout.count(), rank, 0)));
  const auto stripes = run.stripes();
  index_t all = 0, own = 0, next = 0, parts = 0;
  for (int p = 0; p < ranks; ++p) {
    const Layout& stripe = stripes[static_cast<std::size_t>(p)].layout;
    if (stripe.count() == 0) continue;
    const index_t bytes = run.method.compressor->payload_bytes(stripe, stripe.count()) + payload_header_bytes;
    all += bytes;
    ++parts;
    if (p == rank) own = bytes;
    if (p == (rank + 1) % ranks) next = bytes;
  }
  const index_t sizes = 8 * ranks * (ranks - 1) + 8 * (ranks - 1);
  const index_t most = ranks == 1 ? 0 : all - own + all - next + sizes;  // the parts, and then a ring
  if (!run.method.compressor->info().fixed_bytes) {
    EXPECT_LE(run.comm->ledger().total().sent - before, most);
    EXPECT_LE(run.reduction.bytes().payload + run.reduction.bytes().header, all + own);
    return;
  }
  EXPECT_EQ(run.comm->ledger().total().sent - before, most);
  EXPECT_EQ(run.reduction.bytes().header, payload_header_bytes * (parts + (own > 0 ? 1 : 0)));
  EXPECT_EQ(run.reduction.bytes().payload + run.reduction.bytes().header, all + own);
  // All ranks together send 2 (W - 1) payloads, as many as an allreduce of them.
  const auto sent = sum_over_ranks(*comm, {run.comm->ledger().total().sent - before})[0];
  EXPECT_EQ(sent, 2 * (ranks - 1) * all + ranks * sizes);
  // The formula of a method for the whole bucket differs by the rounding of pieces and by the headers.
  const index_t whole = run.method.compressor->payload_bytes(run.bucket, run.bucket.count());
  EXPECT_NEAR(static_cast<double>(all - parts * payload_header_bytes), static_cast<double>(whole), 16.0 * ranks);
}

TEST(TwoPhase, PreciseMethodsAreCloseToTheMean) {
  const auto comm = world();
  const Layout layout = network();
  for (const auto& [spec, share] : std::vector<std::pair<std::string, double>>{{"int8_block", 2.0 / 254},
                                                                               {"fp8_e4m3", 2.0 / 16},
                                                                               {"linear_dithering", 2.0 / 127},
                                                                               {"max_min:bits=8", 4.0 / 255}}) {
    OneBucket run(spec + ":feedback=none:reducer=two_phase", layout, *comm);
    const auto g = gradient_values(layout.count(), comm->rank(), 3);
    EXPECT_TRUE(run.step(0, g));
    const auto sums = sum_over_all(*comm, g);
    const auto out = run.values();
    double worst = 0;
    for (std::size_t i = 0; i < out.size(); ++i)
      worst = std::max(worst, std::abs(static_cast<double>(out[i]) - sums[i] / comm->size()));
    EXPECT_LE(worst, share * 1.001) << spec;  // |g| <= 1
    EXPECT_GT(worst, 0) << spec;
  }
}

// The mean of tensors that one_bit does not compress is exact.
TEST(TwoPhase, WhatTravelsAsItIsIsExact) {
  const auto comm = world();
  Layout layout;
  layout.add("bias", {1000}).add("narrow", {200, 3});
  OneBucket run("one_bit", layout, *comm);
  std::vector<float> g(static_cast<std::size_t>(layout.count()));
  for (std::size_t i = 0; i < g.size(); ++i)
    g[i] = static_cast<float>(comm->size() * (static_cast<int>(i % 17) - 8) * (comm->rank() + 1));
  EXPECT_TRUE(run.step(0, g));
  const auto sums = sum_over_all(*comm, g);
  const auto out = run.values();
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_FLOAT_EQ(out[i], static_cast<float>(sums[i] / comm->size()));
}

// All ranks follow the mean of h, except for what the owners have not sent yet.
TEST(TwoPhase, Ef21FollowsTheMeanOfWhatWasSent) {
  const auto comm = world();
  const Layout layout = network();
  for (const std::string eta : {"1", "0.3"}) {
    OneBucket run("ef_sign:reducer=two_phase:feedback=ef21:feedback.eta=" + eta, layout, *comm);
    for (int step = 0; step < 5; ++step)
      EXPECT_TRUE(run.step(step, gradient_values(layout.count(), comm->rank(), step)));
    const auto sent = sum_over_all(*comm, run.memory()), owners = run.all_owned();
    const auto out = run.values();
    double worst = 0;
    for (std::size_t i = 0; i < out.size(); ++i)
      worst = std::max(worst, std::abs(static_cast<double>(out[i]) + owners[i] - sent[i] / comm->size()));
    EXPECT_LE(worst, 1e-5) << eta;
  }
}

TEST(TwoPhase, OwnersWithoutFeedbackKeepNothing) {
  const auto comm = world();
  for (const std::string option : {":reducer.owner_feedback=none", ":feedback=none"}) {
    OneBucket run("ef_sign:reducer=two_phase" + option, network(), *comm);
    EXPECT_TRUE(run.step(0, gradient_values(network().count(), comm->rank(), 0)));
    EXPECT_TRUE(run.owned().empty()) << option;
  }
}

// E[out] = mean gradient. The mean of many steps is projected on groups of elements and on the signs of the gradient.
TEST(TwoPhase, UnbiasedMethodsStayUnbiased) {
  const auto comm = world();
  if (comm->size() > 4) GTEST_SKIP() << "more than four ranks show nothing new";
  const Layout layout = Layout::flat(20000);
  constexpr std::size_t groups = 12, trials = 32;
  for (const std::string spec :
       {"qsgd:bits=2", "max_min:bits=2", "natural", "linear_dithering:bits=3:group=256", "natural_dithering:bits=3",
        "terngrad:code=2bit:clip=0", "terngrad:code=base3:clip=0", "int8_block:rounding=stochastic:feedback=none"}) {
    OneBucket run(spec + ":reducer=two_phase", layout, *comm);
    const auto g = gradient_values(layout.count(), comm->rank(), 5);
    const auto sums = sum_over_all(*comm, g);
    std::array<double, groups + 1> sum{}, square{};
    for (std::size_t t = 0; t < trials; ++t) {
      EXPECT_TRUE(run.step(static_cast<int>(t), g));
      const auto out = run.values();
      std::array<double, groups + 1> error{};
      for (std::size_t i = 0; i < out.size(); ++i) {
        const double mean = sums[i] / comm->size(), e = static_cast<double>(out[i]) - mean;
        error[i * groups / out.size()] += e;
        error[groups] += e * (mean < 0 ? -1 : 1);  // shows whether compression shrinks or enlarges values
      }
      for (std::size_t d = 0; d <= groups; ++d) {
        sum[d] += error[d];
        square[d] += error[d] * error[d];
      }
    }
    for (std::size_t d = 0; d <= groups; ++d) {
      const double mean = sum[d] / trials, variance = square[d] / trials - mean * mean;
      EXPECT_LE(std::abs(mean), 6 * std::sqrt(variance / trials)) << spec << " direction " << d;
      EXPECT_GT(variance, 0) << spec;
    }
  }
}

// Two stripes of one segment have equal elements.
TEST(TwoPhase, StripesDrawNumbersOfTheirOwn) {
  const auto comm = world();
  if (comm->size() == 1) GTEST_SKIP() << "needs two ranks";
  const index_t n = 8192 * comm->size();
  OneBucket run("qsgd:reducer=two_phase", Layout::flat(n), *comm);
  EXPECT_TRUE(run.step(0, std::vector<float>(static_cast<std::size_t>(n), 0.7f)));
  const auto out = run.values();
  for (int p = 1; p < comm->size(); ++p) {
    int differ = 0;
    for (std::size_t i = 0; i < 8192; ++i) differ += out[i] != out[static_cast<std::size_t>(p) * 8192 + i];
    EXPECT_GT(differ, 1000) << p;
  }
}

TEST(TwoPhase, RanksWithOtherOptionsAreRefused) {
  const auto comm = world();
  if (comm->size() == 1) GTEST_SKIP() << "needs two ranks";
  const std::string norm = comm->rank() == 0 ? "l2" : "max";  // the same sizes, because capacities have to agree
  OneBucket run("qsgd:reducer=two_phase:norm=" + norm, Layout::flat(8192 * comm->size()), *comm);
  EXPECT_THROW(run.step(0, std::vector<float>(run.gradient.size(), 1.0f)), Error);
}

}  // namespace two_phase_test
}  // namespace gradcomp::test
