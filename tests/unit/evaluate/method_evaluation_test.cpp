// One method on one gradient, against plain host arithmetic.
#include "gradcomp/evaluate/method_evaluation.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "copies.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/data/generated/synthetic.hpp"
#include "gradcomp/exchange/one_rank.hpp"

namespace gradcomp::evaluate {
namespace method_evaluation_test {

using test::to_device;
using test::to_host;

constexpr index_t n = 20011;

/// A draw of the Laplace distribution on the device.
Vector<float> gradient(std::uint64_t number = 0) {
  std::vector<float> host(n);
  data::fill(data::Distribution::parse("laplace"), 3, number, host);
  return to_device(host);
}

MethodEvaluationOptions loop(bool closed, bool keep_bytes = false) {
  MethodEvaluationOptions options;
  options.closed = closed;
  options.timings = 1;
  options.keep_bytes = keep_bytes;
  return options;
}

double norm(const std::vector<float>& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum);
}

TEST(MethodEvaluation, TopKOpenLoopAgainstAPlainSort) {
  const Exec exec;
  const auto g = gradient();
  MethodEvaluation probe("top_k:ratio=0.01", Layout::flat(n), loop(false, true));
  ReadProbe read(n);
  probe.step(exec, g, read);
  const index_t k = 200;  // floor(0.01 x 20011)
  auto rest = to_host(g);
  std::sort(rest.begin(), rest.end(), [](float a, float b) { return std::fabs(a) > std::fabs(b); });
  rest.erase(rest.begin(), rest.begin() + k);
  const Measurements& m = probe.measurements();
  EXPECT_EQ(m.density_ratio, (std::vector<std::vector<double>>{{1.0}}));
  EXPECT_EQ(m.kept, (std::vector<double>{k}));
  EXPECT_EQ(m.payload_bytes[0], 8.0 * k);
  EXPECT_EQ(m.header_bytes[0], 32.0);
  EXPECT_EQ(probe.message().size(), 32u + 8 * k);
  const double error = norm(rest) / norm(to_host(g));
  EXPECT_NEAR(m.l2_error[0], error, 1e-9);
  EXPECT_NEAR(m.cosine[0], std::sqrt(1 - error * error), 1e-9) << "a selection is orthogonal to its rest";
  EXPECT_EQ(m.verified, true);
  double bits = 0;  // log2 of n! / (k! (n - k)!), factor by factor
  for (index_t i = 0; i < k; ++i) bits += std::log2(static_cast<double>(n - i) / static_cast<double>(k - i));
  EXPECT_NEAR(m.entropy_bits[0], bits, 1e-6 * bits);
  EXPECT_EQ(m.compress_ms.size(), 1u);
  EXPECT_GT(m.read_ms[0], 0);
}

TEST(MethodEvaluation, ClosedLoopCarriesTheErrorOpenLoopDoesNot) {
  const Exec exec;
  const auto g = gradient();
  ReadProbe read(n);
  MethodEvaluation closed("top_k:ratio=0.01", Layout::flat(n), loop(true)),
      open("top_k:ratio=0.01", Layout::flat(n), loop(false));
  std::vector<float> sum(n, 0.0f), residual = to_host(g);
  for (int step = 0; step < 3; ++step) {
    closed.step(exec, g, read);
    open.step(exec, g, read);
    const auto decoded = closed.decoded();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += decoded[i];
    if (step == 0) {
      EXPECT_EQ(decoded, open.decoded());
    } else {
      EXPECT_NE(decoded, open.decoded());
    }
  }
  const auto& m = closed.measurements();
  EXPECT_EQ(m.verified, true);
  EXPECT_EQ(open.measurements().l2_error[0], open.measurements().l2_error[2]) << "no memory";
  EXPECT_NE(m.l2_error[0], m.l2_error[2]);
  EXPECT_EQ(m.compress_ms.size(), 2u) << "the first step is a warm-up";
  EXPECT_EQ(open.measurements().compress_ms.size(), 3u);
  // what was sent plus what is left is three times the gradient: the last step's rest is known from its error
  std::vector<float> left(n);
  const auto gradients = to_host(g);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = 3 * gradients[i] - sum[i];
  std::vector<float> seen(n);
  const auto decoded = closed.decoded();
  for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = left[i] + decoded[i];
  EXPECT_NEAR(m.l2_error[2], norm(left) / norm(seen), 1e-5);
}

TEST(MethodEvaluation, EveryMethodIsVerifiedOrSaysThatItCannotBe) {
  const Exec exec;
  const auto g = gradient();
  ReadProbe read(n);
  for (const auto& entry : all_entries()) {
    for (const bool closed : {false, true}) {
      MethodEvaluation probe(entry.info.name, Layout::flat(n), loop(closed));
      for (int step = 0; step < 2; ++step) probe.step(exec, g, read);
      EXPECT_NE(probe.measurements().verified, false) << entry.info.name << (closed ? " closed" : " open");
      EXPECT_EQ(probe.measurements().l2_error.size(), 2u);
    }
  }
}

TEST(MethodEvaluation, EveryKindOfFeedbackIsVerified) {
  const Exec exec;
  ReadProbe read(n);
  for (const char* feedback :
       {"none", "residual", "residual:feedback.beta=0.5:feedback.gamma=2:feedback.clip=10", "momentum_correction",
        "momentum_correction:feedback.nesterov=on", "ef21", "ef21:feedback.eta=0.3"}) {
    for (const char* name : {"top_k", "sidco"}) {
      MethodEvaluation probe(std::string(name) + ":feedback=" + feedback, Layout::flat(n), loop(true));
      for (std::uint64_t step = 0; step < 4; ++step) probe.step(exec, gradient(step), read);
      EXPECT_EQ(probe.measurements().verified, true) << name << " " << feedback;
      for (const double error : probe.measurements().l2_error) EXPECT_TRUE(error > 0 && error < 1) << feedback;
    }
  }
}

TEST(MethodEvaluation, OptionsThatForbidFeedbackAreNotVerified) {
  const Exec exec;
  const auto g = gradient();
  ReadProbe read(n);
  MethodEvaluation probe("random_k:scale=unbiased", Layout::flat(n), loop(false));
  probe.step(exec, g, read);
  EXPECT_EQ(probe.measurements().verified, std::nullopt);
}

TEST(MethodEvaluation, TensorsHaveRatiosOfTheirOwn) {
  const Exec exec;
  const auto g = gradient();
  ReadProbe read(n);
  Layout layout;
  layout.add("a", {100, 100}).add("b", {n - 10000});
  MethodEvaluation tensors("top_k:ratio=0.01:granularity=tensor", layout, loop(false));
  MethodEvaluation bucket("top_k:ratio=0.01:granularity=bucket", layout, loop(false));
  tensors.step(exec, g, read);
  bucket.step(exec, g, read);
  EXPECT_EQ(tensors.measurements().density_ratio[0].size(), 2u);
  EXPECT_EQ(bucket.measurements().density_ratio[0].size(), 1u);
}

TEST(MethodEvaluation, NonFiniteGradientsAreAnError) {
  const Exec exec;
  auto values = to_host(gradient());
  values[7] = NAN;
  const Vector<float> g = to_device(values);
  ReadProbe read(n);
  for (const char* name : {"top_k", "fp32"}) {
    MethodEvaluation probe(name, Layout::flat(n), loop(false));
    EXPECT_THROW(probe.step(exec, g, read), Error) << name;
  }
}

TEST(MethodEvaluation, ZerosHaveNoErrorAndNoDirection) {
  const Exec exec;
  const Vector<float> g("gradient", n);
  ReadProbe read(n);
  MethodEvaluation probe("sidco", Layout::flat(n), loop(false));
  probe.step(exec, g, read);
  EXPECT_EQ(probe.measurements().l2_error[0], 0);
  EXPECT_TRUE(std::isnan(probe.measurements().cosine[0]));
}

TEST(AddsUp, FindsOneWrongElement) {
  const std::vector<float> seen = {1.0f, -2.0f, 1e-20f}, decoded = {1.0f, 0.0f, 0.0f};
  EXPECT_TRUE(adds_up(seen, decoded, std::vector<float>{0.0f, -2.0f, 1e-20f}, 0));
  EXPECT_FALSE(adds_up(seen, decoded, std::vector<float>{0.0f, -2.0001f, 1e-20f}, 0));
  EXPECT_TRUE(adds_up(seen, decoded, std::vector<float>{0.0f, -2.0001f, 1e-20f}, 1e-3));
  EXPECT_FALSE(adds_up(seen, decoded, std::vector<float>{0.0f, -2.0f, 0.0f}, 0)) << "small values count too";
  EXPECT_FALSE(adds_up(seen, decoded, std::vector<float>{NAN, -2.0f, 1e-20f}, 1));
}

}  // namespace method_evaluation_test
}  // namespace gradcomp::evaluate
