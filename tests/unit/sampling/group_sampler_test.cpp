// Samplers on one rank, with losses that depend only on the sample.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "gradcomp/comm/transports/self.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradcomp/sampling/batch_sampler.hpp"

namespace gradcomp {
namespace group_sampler_test {

using testing::HasSubstr;

/// A sampler of the samples 100, 101, ..., and the evaluations that it has requested.
struct Rig {
  explicit Rig(const std::string& spec, index_t count = 100, index_t batch = 8)
      : self(make_self()), choice(choose_sampler(parse_method("fp32"), spec)) {
    std::vector<index_t> samples(static_cast<std::size_t>(count));
    std::iota(samples.begin(), samples.end(), 100);
    sampler = choice.entry.make({samples, batch, 1, *self, choice.own});
  }

  EvaluateLosses evaluate() {
    return [this](std::span<const index_t> samples, std::span<float> losses) {
      slices.emplace_back(samples.begin(), samples.end());
      for (std::size_t i = 0; i < samples.size(); ++i) losses[i] = loss_of(samples[i]);
    };
  }

  /// A step during whose exchange there is time for this number of slices. Returns how many slices it took in all.
  index_t step(index_t number, index_t hidden = 0) {
    if (!sampler->ready()) {
      sampler->begin(number);
      sampler->finish(evaluate());
    }
    sampler->draw(number, drawn);
    sampler->begin(number);
    for (index_t i = 0; i < hidden && sampler->evaluate_slice(evaluate()); ++i) {
    }
    return sampler->finish(evaluate());
  }

  std::unique_ptr<Transport> self;
  SamplerChoice choice;
  std::unique_ptr<BatchSampler> sampler;
  std::function<float(index_t)> loss_of = [](index_t sample) { return 1.0F + 0.01F * static_cast<float>(sample); };
  std::vector<std::vector<index_t>> slices;
  WeightedBatch drawn;
};

TEST(Mercury, EvaluatesEverySampleOncePerPass) {
  Rig rig("mercury:slices=3:slice=8");
  std::multiset<index_t> seen;
  index_t passes = 0;
  for (index_t step = 0; passes < 3; ++step) {
    rig.slices.clear();
    rig.step(step);
    for (const auto& slice : rig.slices) {
      EXPECT_LE(slice.size(), 8U);
      seen.insert(slice.begin(), slice.end());
      if (seen.size() < 100) continue;
      ASSERT_EQ(seen.size(), 100U) << "a slice ends at the end of a pass";
      EXPECT_EQ(std::set<index_t>(seen.begin(), seen.end()).size(), 100U);
      seen.clear();
      ++passes;
    }
  }
}

TEST(Mercury, DrawsFromTheLastGroupAlone) {
  Rig rig("mercury:slices=2:slice=8");
  rig.step(0);
  for (index_t step = 1; step < 40; ++step) {
    const std::size_t before = rig.slices.size();
    std::set<index_t> group(rig.slices[before - 2].begin(), rig.slices[before - 2].end());
    group.insert(rig.slices[before - 1].begin(), rig.slices[before - 1].end());
    rig.step(step);
    for (const index_t sample : rig.drawn.samples) EXPECT_TRUE(group.contains(sample)) << step << ": " << sample;
    EXPECT_EQ(rig.drawn.weights.size(), 8U);
  }
}

TEST(Mercury, WithFixedSlicesDoesNotDependOnWhatTheExchangeHid) {
  Rig sequential("mercury:slices=4:slice=8"), hidden("mercury:slices=4:slice=8");
  for (index_t step = 0; step < 30; ++step) {
    EXPECT_EQ(sequential.step(step), 4);
    EXPECT_EQ(hidden.step(step, step % 7), 4);
    EXPECT_EQ(sequential.drawn.samples, hidden.drawn.samples);
    EXPECT_EQ(sequential.drawn.weights, hidden.drawn.weights);
  }
  EXPECT_EQ(sequential.slices, hidden.slices);
}

TEST(Mercury, TakesAsManySlicesAsTheExchangeHasTimeFor) {
  Rig rig("mercury:slice=4:max_slices=6", 100, 8);
  EXPECT_EQ(rig.step(0), 2) << "the minimum is a batch";
  EXPECT_EQ(rig.step(1, 5), 5);
  EXPECT_EQ(rig.step(2, 1), 2);
  EXPECT_EQ(rig.step(3, 99), 6) << "this is the maximum";
}

TEST(Mercury, RepeatsRecordedSlices) {
  Rig first("mercury:slice=4"), second("mercury:slice=4");
  std::vector<index_t> slices;
  std::vector<std::vector<index_t>> drawn;
  for (index_t step = 0; step < 20; ++step) {
    slices.push_back(first.step(step, step * 3 % 8));
    drawn.push_back(first.drawn.samples);
  }
  second.sampler->replay(slices);
  for (index_t step = 0; step < 20; ++step) {
    EXPECT_EQ(second.step(step), slices[static_cast<std::size_t>(step)]);
    EXPECT_EQ(second.drawn.samples, drawn[static_cast<std::size_t>(step)]);
  }
}

TEST(Mercury, DrawsHardSamplesMoreOftenByThePredictedFactor) {
  Rig rig("mercury:slices=10:slice=10:decay=0", 100, 50);
  rig.loss_of = [](index_t sample) { return sample % 10 == 0 ? 3.0F : 0.1F; };
  index_t hard = 0;
  constexpr index_t steps = 400;
  for (index_t step = 0; step < steps; ++step) {
    rig.step(step);
    for (const index_t sample : rig.drawn.samples) hard += sample % 10 == 0 ? 1 : 0;
  }
  const double mean = 0.1 * 3 + 0.9 * 0.1, base = 0.5 * mean;
  const double share = 10 * (3 + base) / (10 * (3 + base) + 90 * (0.1 + base));
  const double count = 50.0 * steps;
  EXPECT_NEAR(static_cast<double>(hard) / count, share, 4 * std::sqrt(share * (1 - share) / count));
}

TEST(Mercury, NeverTrainsOnASampleWithoutALoss) {
  Rig rig("mercury:slices=4:slice=8");
  rig.loss_of = [](index_t sample) { return sample % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : 1.0F; };
  for (index_t step = 0; step < 20; ++step) {
    rig.step(step);
    for (const index_t sample : rig.drawn.samples) EXPECT_EQ(sample % 2, 1);
    for (const float weight : rig.drawn.weights) EXPECT_FLOAT_EQ(weight, 1);
  }
}

TEST(Mercury, AsReleasedHasNoWeights) {
  Rig rig("mercury:slices=4:slice=8:variant=paper");
  rig.step(0);
  EXPECT_EQ(rig.drawn.samples.size(), 8U);
  EXPECT_TRUE(rig.drawn.weights.empty());
}

TEST(Mercury, KeepsAGroupForSeveralSteps) {
  Rig rig("mercury:slices=2:slice=8:every=3");
  std::vector<index_t> slices;
  for (index_t step = 0; step < 9; ++step) slices.push_back(rig.step(step));
  EXPECT_THAT(slices, testing::ElementsAre(0, 0, 2, 0, 0, 2, 0, 0, 2));
}

TEST(Importance, KnowsAllLossesEverySoManySteps) {
  Rig rig("importance:every=5:slice=16");
  for (index_t step = 0; step < 11; ++step) {
    rig.slices.clear();
    const index_t taken = rig.step(step);
    std::set<index_t> seen;
    for (const auto& slice : rig.slices) seen.insert(slice.begin(), slice.end());
    const bool renewed = step == 0 || (step + 1) % 5 == 0;
    EXPECT_EQ(seen.size(), renewed ? 100U : 0U) << step;
    EXPECT_EQ(taken, renewed && step > 0 ? 7 : 0) << step;
  }
  for (const float loss : rig.sampler->losses()) EXPECT_TRUE(std::isfinite(loss));
}

TEST(Samplers, GoOnFromTheirMemories) {
  for (const char* const spec : {"mercury:slices=3:slice=8", "importance:every=4", "mercury:variant=paper:slices=2"}) {
    Rig whole(spec), resumed(spec);
    for (index_t step = 0; step < 7; ++step) whole.step(step);
    const Memories from = whole.sampler->memories(), to = resumed.sampler->memories();
    ASSERT_EQ(from.size(), to.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      ASSERT_EQ(from[i].bytes, to[i].bytes) << from[i].name;
      EXPECT_TRUE(from[i].on_host);
      std::memcpy(to[i].data, from[i].data, static_cast<std::size_t>(from[i].bytes));
    }
    for (index_t step = 7; step < 20; ++step) {
      whole.step(step);
      resumed.step(step);
      EXPECT_EQ(whole.drawn.samples, resumed.drawn.samples) << spec << ", step " << step;
      EXPECT_EQ(whole.drawn.weights, resumed.drawn.weights) << spec << ", step " << step;
    }
  }
}

TEST(Samplers, TakeShardsOfAnySize) {
  for (const index_t count : {1, 2, 31, 33}) {
    for (const char* const spec : {"mercury", "importance", "mercury:slices=5:slice=7"}) {
      Rig rig(spec, count, 4);
      for (index_t step = 0; step < 12; ++step) {
        rig.step(step, 3);
        ASSERT_EQ(rig.drawn.samples.size(), 4U);
        for (const index_t sample : rig.drawn.samples) EXPECT_TRUE(sample >= 100 && sample < 100 + count);
      }
    }
  }
}

TEST(Samplers, AreChosenByTheMethodOrTheJob) {
  const auto text = [](const char* method, const char* job) {
    return choose_sampler(parse_method(method), job).text();
  };
  EXPECT_EQ(text("fp32", "uniform"), "uniform");
  EXPECT_THAT(text("fp32:sampler=mercury:sampler.slices=4", "uniform"), HasSubstr("mercury:slices=4"));
  EXPECT_THAT(text("fp32:sampler.every=3", "importance:every=9"), HasSubstr("every=3"));
  EXPECT_EQ(parse_method("top_k").canonical.find("sampler"), std::string::npos) << "older results keep their names";
}

std::string error_of(const char* method, const char* job) {
  try {
    choose_sampler(parse_method(method), job);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Samplers, RefuseWhatIsNotAllowed) {
  EXPECT_THAT(error_of("fp32", "mercur"), HasSubstr("importance, mercury, uniform"));
  EXPECT_THAT(error_of("fp32:sampler=mercury:sampler.slice=0", "uniform"), HasSubstr("slice"));
  EXPECT_THAT(error_of("fp32", "mercury:group=3"), HasSubstr("group"));
  EXPECT_THAT(error_of("fp32", "mercury:least_slices=2"), HasSubstr("is now called 'min_slices'"));
  EXPECT_THAT(error_of("fp32", "mercury:most_slices=2"), HasSubstr("is now called 'max_slices'"));
}

}  // namespace group_sampler_test
}  // namespace gradcomp
