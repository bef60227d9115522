// Compares trainers with the same training by hand: parameters must be equal, bit for bit.
#include "training/by_hand.hpp"

#include "gradcomp/exchange/exchange.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::train::test {
namespace by_hand_test {

using Floats = std::vector<float>;

/// Four steps: two of warm-up, and then two with different rates.
void shorten(Rig& rig) {
  rig.options.steps = rig.options.evaluate_every = rig.options.block = 4;
  rig.options.warmup = 2;
}

void expect_equal(Rig& rig, const std::string& method, const ByHand& hand) {
  const MethodResult result = rig.run(method)[0];
  EXPECT_EQ(result.parameters_hash, hand.hash()) << method;
  EXPECT_TRUE(result.replicas_equal) << method;
}

TEST(ByHand, Fp32WithWarmUpAndCosine) {
  for (const std::string decay : {"cosine", "constant"}) {
    Rig rig;
    shorten(rig);
    rig.options.decay = decay;
    ByHand hand(rig);
    Floats velocity;
    for (index_t step = 0; step < 4; ++step) hand.sgd(hand.mean(hand.gradient(step)), velocity, hand.rate(step), 0.9F);
    expect_equal(rig, "fp32", hand);
    expect_equal(rig, "fp32:strategy=synchronous", hand);
  }
}

TEST(ByHand, ClipsTheMeanNotTheOwnGradient) {
  Rig rig;
  shorten(rig);
  rig.options.clip = 0.5;
  ByHand hand(rig);
  Floats velocity;
  for (index_t step = 0; step < 4; ++step) {
    Floats mean = hand.mean(hand.gradient(step));
    double sum = 0;
    for (const float x : mean) sum += static_cast<double>(x) * static_cast<double>(x);
    EXPECT_GT(std::sqrt(sum), 0.5) << "the test needs a smaller limit";
    for (float& x : mean) x *= static_cast<float>(0.5 / std::sqrt(sum));
    hand.sgd(mean, velocity, hand.rate(step), 0.9F);
  }
  expect_equal(rig, "fp32", hand);
}

TEST(ByHand, AdamW) {
  Rig rig;
  shorten(rig);
  rig.options.optimiser = "adamw";
  rig.options.learning_rate = 0.002;
  rig.options.weight_decay = 0.1;
  ByHand hand(rig);
  Floats& p = hand.parameters;
  Floats m(p.size(), 0.0F), s(p.size(), 0.0F);
  double power1 = 1, power2 = 1;
  for (index_t step = 0; step < 4; ++step) {
    const Floats mean = hand.mean(hand.gradient(step));
    power1 *= 0.9;
    power2 *= 0.999;
    const float rate = static_cast<float>(hand.rate(step) / (1 - power1));
    const float scale = static_cast<float>(1 / std::sqrt(1 - power2));
    const float decay = static_cast<float>(hand.rate(step) * 0.1);
    for (std::size_t i = 0; i < p.size(); ++i) {
      const float left = p[i] - decay * (hand.decays(i) ? 1.0F : 0.0F) * p[i];
      m[i] = 0.9F * m[i] + (1 - 0.9F) * mean[i];
      s[i] = 0.999F * s[i] + (1 - 0.999F) * mean[i] * mean[i];
      p[i] = left - rate * m[i] / (scale * std::sqrt(s[i]) + 1e-8F);
    }
  }
  expect_equal(rig, "fp32", hand);
}

/// Trains by hand with the reductions of the method's buckets, followed by SGD with this momentum.
void expect_method(const std::string& spec, float momentum, const std::string& nesterov = "off") {
  Rig rig;
  shorten(rig);
  rig.options.nesterov = nesterov;
  ByHand hand(rig);
  const MethodSpec method = parse_method(spec);
  const Layout& layout = rig.model->layout();
  const auto buckets = cut_buckets(layout, 1024 * rig.options.bucket_kib);
  EXPECT_GT(buckets.size(), 2U);
  Faults faults;
  std::vector<std::unique_ptr<Reduction>> reductions;
  for (const BucketRange& b : buckets) {
    const int number = static_cast<int>(reductions.size());
    reductions.push_back(
        std::make_unique<Reduction>(method, layout.slice(b.first, b.last), *rig.control, faults, number));
  }
  Floats velocity;
  const double scale = method.learning_rate(1);
  for (index_t step = 0; step < 4; ++step) {
    const Vector<float> own = to_device(hand.gradient(step)), mean("mean", own.size());
    Context context{rig.options.seed, step, rig.control->rank(), rig.control->size()};
    context.rate = scale * hand.rate(step);
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      reductions[b]->begin(Exec(), subspan<const float>(own, buckets[b].offset, buckets[b].count),
                           subspan<float>(mean, buckets[b].offset, buckets[b].count), context, nullptr);
      reduce(*reductions[b], Exec());
    }
    hand.sgd(to_host(mean), velocity, scale * hand.rate(step), momentum, nesterov == "powersgd");
  }
  expect_equal(rig, spec, hand);
}

TEST(ByHand, MomentumIsAppliedOnce) {
  expect_method("dgc:ratio=0.05", 0);  // by the feedback
  expect_method("top_k:ratio=0.05:feedback=momentum_correction:feedback.nesterov=on", 0);
  expect_method("signum", 0);  // by the method
  expect_method("sign", 0);
  expect_method("top_k:ratio=0.05", 0.9F);  // by the optimiser
  expect_method("powersgd:rank=2", 0.9F);
  expect_method("ef_sign:variant=paper", 0);  // none
}

// Vogels et al. 2019, algorithm 2: m = lambda m + D; x -= rate (D + m), with D the decoded mean and its weight decay
TEST(ByHand, MomentumOfPowerSgdsAuthors) { expect_method("powersgd:rank=2:matrix=authors", 0.9F, "powersgd"); }

TEST(ByHand, AccumulateTakesTheRateOfItsLastStep) {
  for (const std::string overlap : {"on", "off"}) {
    Rig rig;
    shorten(rig);
    ByHand hand(rig);
    Floats velocity;
    for (const index_t group : {0, 2}) {
      const Floats first = hand.gradient(group), second = hand.gradient(group + 1);
      Floats own(first.size());
      for (std::size_t i = 0; i < own.size(); ++i) own[i] = 0.5F * (first[i] + second[i]);
      hand.sgd(hand.mean(own), velocity, hand.rate(group + 1), 0.9F);
    }
    expect_equal(rig, "fp32:strategy=accumulate:strategy.every=2:strategy.overlap=" + overlap, hand);
  }
}

TEST(ByHand, LocalStepsWithAnOuterOptimiser) {
  Rig rig;
  shorten(rig);
  ByHand hand(rig);
  Floats& p = hand.parameters;
  Floats start = p, inner, outer(p.size(), 0.0F), change(p.size());
  for (index_t step = 0; step < 4; ++step) {
    hand.sgd(hand.gradient(step), inner, hand.rate(step), 0.9F);
    if (step % 2 == 0) continue;
    for (std::size_t i = 0; i < p.size(); ++i) change[i] = start[i] - p[i];
    const Floats mean = hand.mean(change);
    for (std::size_t i = 0; i < p.size(); ++i) {
      outer[i] = 0.75F * outer[i] + mean[i];
      start[i] -= 0.5F * (mean[i] + 0.75F * outer[i]);
    }
    p = start;
    hand.average_buffers();
  }
  expect_equal(rig,
               "fp32:strategy=local:strategy.period=2:strategy.outer_rate=0.5:strategy.outer_momentum=0.75:"
               "strategy.outer_nesterov=on",
               hand);
}

}  // namespace by_hand_test
}  // namespace gradcomp::train::test
