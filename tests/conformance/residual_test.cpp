// What is not sent stays in the memory: memory and decoded value add up to the gradient with its feedback.
#include <cmath>

#include "conformance/cases.hpp"
#include "conformance/simulated_rank.hpp"
#include "same_bits.hpp"

namespace gradcomp::conformance {
namespace residual_test {

using Values = std::vector<std::vector<float>>;

/// Checks that memory + decoded == a: bit for bit for sparsifiers that send the values themselves, otherwise up to the
/// rounding of a - decoded.
void check_one_rank(const MethodSpec& method, const Layout& layout, const std::string& values) {
  auto ranks = make_ranks(method, layout, 1);
  const Info& info = method.compressor->info();
  const bool selects = info.family == Info::Family::sparsifier && info.sends_values;
  for (int step = 0; step < 3; ++step) {
    set_gradients(ranks, values, 11 + static_cast<std::uint64_t>(step));
    const auto a = ranks[0].accumulated();
    const StepResult done = run_step(ranks, step);
    ASSERT_TRUE(done.ok());
    const auto r = ranks[0].memory();
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double decoded = done.out[0][i], kept = r[i];
      const double tolerance = selects ? 0 : 0x1p-23 * (std::fabs(a[i]) + std::fabs(decoded));
      ASSERT_TRUE(std::isfinite(kept));
      ASSERT_LE(std::fabs(kept + decoded - a[i]), tolerance)
          << "element " << i << " step " << step << ": a " << a[i] << " decoded " << decoded << " kept " << kept;
    }
  }
}

/// mean of memories + out == mean of a, since only the mean enters the model; and the replicas agree bit for bit.
void check_ranks(const MethodSpec& method, const Layout& layout, const std::string& values, int count) {
  auto ranks = make_ranks(method, layout, count);
  // a 16-bit sum is rounded once more after the residuals were taken
  const bool rounds = method.compressor->info().property == Info::Property::rounding;
  for (int step = 0; step < 2; ++step) {
    set_gradients(ranks, values, 23 + static_cast<std::uint64_t>(step));
    Values a, r;
    for (const auto& w : ranks) a.push_back(w.accumulated());
    const StepResult done = run_step(ranks, step);
    ASSERT_TRUE(done.ok());
    for (const auto& w : ranks) r.push_back(w.memory());
    for (std::size_t i = 0; i < a[0].size(); ++i) {
      double expected = 0, kept = 0, size = 0;
      for (int w = 0; w < count; ++w) {
        const auto k = static_cast<std::size_t>(w);
        expected += a[k][i] / count;
        kept += r[k][i] / count;
        size += std::fabs(a[k][i]) + std::fabs(r[k][i]);
      }
      const double out = done.out[0][i];
      const double tolerance = 0x1p-21 * (size + std::fabs(out)) + (rounds ? 0x1p-8 * std::fabs(out) + 0x1p-24 : 1e-44);
      ASSERT_LE(std::fabs(kept + out - expected), tolerance) << "element " << i << " step " << step;
    }
    for (std::size_t w = 1; w < done.out.size(); ++w)
      ASSERT_TRUE(test::same_bits(done.out[0], done.out[w])) << "rank " << w;
  }
}

TEST_P(Conformance, ResidualIdentity) {
  if (!takes_residual()) GTEST_SKIP() << "refuses a residual";
  for_each_case(
      [&](const auto& layout, const auto& values) { check_one_rank(method("residual"), layout.layout, values.name); });
  for (const NamedLayout& large : large_layouts())
    if (is_default()) check_one_rank(method("residual"), large.layout, "laplace");
}

TEST_P(Conformance, RanksAgreeAndLoseNothing) {
  if (method("none").compressor->info().reducer == "local") GTEST_SKIP() << "each rank keeps its own gradient";
  if (!takes_residual()) GTEST_SKIP() << "refuses a residual";
  for (const int ranks : {2, 3}) {
    SCOPED_TRACE(ranks);
    for_each_case([&](const auto& layout, const auto& values) {
      check_ranks(method("residual"), layout.layout, values.name, ranks);
    });
  }
  if (is_default()) check_ranks(method("residual"), large_layouts().front().layout, "laplace", 2);
}

// What was sent in many steps, plus what is still in the memory, is the sum of all gradients.
TEST_P(Conformance, ManyStepsLoseNothing) {
  if (!takes_residual()) GTEST_SKIP() << "refuses a residual";
  auto ranks = make_ranks(method("residual"), layouts().back().layout, 1);
  const auto n = static_cast<std::size_t>(ranks[0].count);
  constexpr int steps = 25;
  std::vector<double> gradients(n), sent(n), size(n);
  for (int step = 0; step < steps; ++step) {
    const auto g = make_data("laplace", ranks[0].count, 200 + static_cast<std::uint64_t>(step));
    ranks[0].set_gradient(g);
    const StepResult done = run_step(ranks, step);
    ASSERT_TRUE(done.ok());
    for (std::size_t i = 0; i < n; ++i) {
      gradients[i] += g[i];
      sent[i] += done.out[0][i];
      size[i] += std::fabs(g[i]) + std::fabs(done.out[0][i]);
    }
  }
  const auto r = ranks[0].memory();
  for (std::size_t i = 0; i < n; ++i)
    ASSERT_LE(std::fabs(sent[i] + r[i] - gradients[i]), steps * 0x1p-23 * size[i]) << "element " << i;
}

}  // namespace residual_test
}  // namespace gradcomp::conformance
