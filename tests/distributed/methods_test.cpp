// Every registered method, every reducer and some compositions, with both schedules: all ranks and both schedules give
// equal bits, and the identity of error feedback holds. tests/unit/compressors and tests/conformance test what a single
// method does.
#include <atomic>
#include <set>

#include "distributed/training_steps.hpp"
#include "gradcomp/exchange/one_rank.hpp"
#include "gradcomp/exchange/registry.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::test {
namespace methods_test {

/// Every reducer with the first method of each family that can use it but does not do so by default.
std::vector<std::string> other_reducers() {
  std::vector<std::string> specs;
  for (const ReducerEntry& reducer : all_reducers()) {
    std::set<Info::Family> seen;
    for (const Entry& entry : all_entries()) {
      const Info& info = entry.info;
      if (info.reducer == reducer.name || !reducer.refusal(info).empty() || !seen.insert(info.family).second) continue;
      specs.push_back(info.name + ":reducer=" + reducer.name);
    }
  }
  return specs;
}

std::vector<std::string> methods() {
  std::vector<std::string> names;
  for (const Entry& entry : all_entries()) names.push_back(entry.info.name);
  for (const char* composition :
       {"top_k:ratio=0.1+qsgd", "qsgd+huffman", "hard_threshold:index=auto+int8_block+huffman"})
    names.push_back(composition);
  for (const std::string& spec : other_reducers()) names.push_back(spec);
  return names;
}

/// The method with a residual, if it takes one; otherwise the method itself.
MethodSpec remembering(const MethodSpec& method) {
  return method.compressor->info().takes("residual") ? parse_method(with_option(method.text, "feedback", "residual"))
                                                     : method;
}

class Methods : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Transport> comm = world();
  MethodSpec method = parse_method(GetParam());
  MethodSpec with_residual = remembering(method);
  bool remembers = with_residual.common.text("feedback") == "residual";
  bool local = method.common.text("reducer") == "local";
};

INSTANTIATE_TEST_SUITE_P(Registry, Methods, testing::ValuesIn(methods()), test_name);

TEST_P(Methods, SameBitsOnEveryRankAndInBothSchedules) {
  for (const MethodSpec& spec : {method, with_residual}) {
    Replica synchronous(spec, *comm, "synchronous"), overlapped(spec, *comm, "overlapped");
    for (int step = 0; step < 3; ++step) {
      synchronous.step(step);
      overlapped.step(step);
      const auto a = synchronous.mean(), b = overlapped.mean();
      EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0) << "step " << step;
      EXPECT_TRUE(local || same_bits(*comm, a)) << "step " << step;
    }
    EXPECT_EQ(synchronous.residual(), overlapped.residual());
    EXPECT_FALSE(synchronous.diverged() || overlapped.diverged());
  }
}

TEST_P(Methods, MeanPlusChangeOfResidualsIsTheMeanGradient) {
  if (local || !remembers) GTEST_SKIP() << "the method reduces nothing or keeps nothing";
  Replica run(with_residual, *comm, "overlapped");
  std::vector<float> before = run.residual(), owned_before = run.owner_residual();
  const auto ranks = static_cast<float>(comm->size());
  for (int step = 0; step < 3; ++step) {
    run.step(step);
    const auto after = run.residual(), gradient = run.own_gradient(step), mean = run.mean();
    const auto owned = run.owner_residual();  // of a mean, so that it counts as much as all ranks' residuals
    std::vector<float> sent(before.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      sent[i] = before[i] + gradient[i] - after[i] + ranks * (owned_before[i] - owned[i]);
    }
    const auto sum = sum_over_all(*comm, sent);
    // fp16 and bf16 round the reduced sum once more, by at most half a unit of 8 bits, which no memory keeps. A
    // library, or reducers that work in hops, may round after each term. Partial sums are at most the sum of the
    // magnitudes.
    const bool each_term = method.common.text("reducer") != "rank_order";
    const int roundings = each_term ? std::max(1, comm->size() - 1) : 1;
    const double rounding = method.compressor->info().property == Info::Property::rounding ? roundings * 0x1p-8 : 0;
    for (float& x : sent) x = std::abs(x);
    const auto magnitudes = each_term ? sum_over_all(*comm, sent) : sum;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const double expected = sum[i] / comm->size(), error = std::abs(expected - static_cast<double>(mean[i]));
      const double allowed = 2e-5 + rounding * std::abs(magnitudes[i]) / comm->size();
      EXPECT_LE(error, allowed) << "step " << step << " element " << i;
      if (error > allowed) break;
    }
    before = after;
    owned_before = owned;
  }
}

TEST_P(Methods, ANanOnOneRankIsSeenOnAllAndEntersNoMemory) {
  const int bad = comm->size() - 1;
  for (const std::string schedule : {"synchronous", "overlapped"}) {
    Replica run(with_residual, *comm, schedule);
    run.step(0);
    run.spoilt_step(1, bad, 500);
    EXPECT_EQ(run.diverged(), !local) << schedule << ": runs without communication never end early";
    EXPECT_TRUE(all_finite(run.residual()) && all_finite(run.owner_residual())) << schedule;
  }
}

std::atomic<int> allocations{0};

TEST_P(Methods, AllocatesNothingInTheSteadyState) {
  for (const std::string schedule : {"synchronous", "overlapped"}) {
    Replica run(with_residual, *comm, schedule);
    const auto gradient = run.own_gradient(0);
    run.step(0, gradient);
    run.step(1, gradient);
    allocations = 0;
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](const Kokkos_Profiling_SpaceHandle, const char*, const void*, const uint64_t bytes) {
          if (bytes > 0) ++allocations;  // on GPUs, Kokkos reports 0 bytes for launches of teams
        });
    run.step(2, gradient);
    run.step(3, gradient);
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
    EXPECT_EQ(allocations.load(), 0) << schedule;
  }
}

}  // namespace methods_test
}  // namespace gradcomp::test
