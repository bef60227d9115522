// Estimated thresholds in a closed loop: with a residual, on the gradients of a ResNet-20 in training.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>

#include "gradcomp/evaluate/stream.hpp"
#include "gradcomp/feedback/feedback.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::evaluate {
namespace closed_loop_test {

constexpr index_t steps = 400;

/// The estimators of thresholds in their authors' variants. RedSync's trimmed search ends in an exact top-k.
constexpr const char* rivals[] = {"redsync:variant=paper:search=binary", "gaussian_k:variant=paper"};

/// A method that gets the gradients of the stream and has its own memory.
struct Follower {
  Follower(const std::string& spec, const Layout& layout)
      : method(parse_method(spec)),
        state(method.compressor->prepare(layout.fused())),
        feedback(method.common, layout.count()) {}

  void step(const Exec& exec, const Span<const float>& gradient, std::int64_t at) {
    method.compressor->produce(exec, 0, {feedback.source(exec, gradient, 1), {}, {1, at, 0, 1}, {}}, *state);
    ratios.push_back(static_cast<double>(state->kept[0]) / static_cast<double>(state->target[0]));
  }

  MethodSpec method;
  std::unique_ptr<State> state;
  Feedback feedback;
  std::vector<double> ratios;
};

/// Statistics of kept / k in the last 200 steps.
struct Statistics {
  double mean = 0, miss = 0;  ///< miss: root mean square of kept / k - 1
};

std::map<std::string, Statistics> follow(const std::vector<std::string>& specs) {
  TrainingOptions training;
  training.model = "resnet20";
  training.dataset = "shapetex10:train=2000:test=10";
  training.steps = steps;
  training.batch = 8;
  training.learning_rate = 0.02;
  const auto stream = make_training_stream(training);
  const Exec exec;
  std::vector<std::unique_ptr<Follower>> followers;
  for (const auto& spec : specs) followers.push_back(std::make_unique<Follower>(spec, stream->layout()));
  for (index_t s = 0; s < steps; ++s) {
    const auto gradient = stream->next(exec);
    for (auto& f : followers) f->step(exec, gradient, s);
  }
  std::map<std::string, Statistics> all;
  for (const auto& f : followers) {
    Statistics& of = all[f->method.text];
    for (std::size_t i = f->ratios.size() - 200; i < f->ratios.size(); ++i) {
      of.mean += f->ratios[i] / 200;
      of.miss += (f->ratios[i] - 1) * (f->ratios[i] - 1) / 200;
    }
    of.miss = std::sqrt(of.miss);
    testing::Test::RecordProperty(f->method.text, fmt::format("mean {:.3f} rms {:.3f}", of.mean, of.miss));
  }
  return all;
}

TEST(ClosedLoop, AdaptiveSidcoHoldsTheTargetAndFixedStagesStarve) {
  std::vector<std::string> specs;
  for (const char* ratio : {"0.01", "0.001"}) {
    for (const char* feedback : {"none", "residual"}) {
      for (const char* sid : {"exponential", "gamma", "pareto"})
        specs.push_back(fmt::format("sidco:ratio={}:sid={}:feedback={}", ratio, sid, feedback));
      for (const char* rival : rivals) specs.push_back(fmt::format("{}:ratio={}:feedback={}", rival, ratio, feedback));
    }
    for (const char* stages : {"1", "2"})
      specs.push_back(fmt::format("sidco:ratio={}:variant=paper:stages={}", ratio, stages));
  }
  const auto all = follow(specs);
  for (const char* sid : {"exponential", "gamma", "pareto"}) {
    const auto of = [&](const char* ratio, const char* feedback) {
      return all.at(fmt::format("sidco:ratio={}:sid={}:feedback={}", ratio, sid, feedback));
    };
    for (const char* feedback : {"none", "residual"}) {
      EXPECT_GT(of("0.01", feedback).mean, 0.9) << sid << ' ' << feedback;
      EXPECT_LT(of("0.01", feedback).mean, 1.2) << sid << ' ' << feedback;
    }
    EXPECT_NEAR(of("0.001", "none").mean, 1, 0.1) << sid;
    EXPECT_GT(of("0.001", "residual").mean, 0.85) << sid;
    EXPECT_LT(of("0.001", "residual").mean, 1.3) << sid;
    for (const char* feedback : {"none", "residual"}) {
      for (const char* rival : rivals) {
        const auto other = all.at(fmt::format("{}:ratio=0.001:feedback={}", rival, feedback));
        EXPECT_LT(of("0.001", feedback).miss, other.miss) << sid << ' ' << rival << ' ' << feedback;
      }
    }
  }
  for (const char* ratio : {"0.01", "0.001"}) {
    for (const char* stages : {"1", "2"}) {
      EXPECT_LT(all.at(fmt::format("sidco:ratio={}:variant=paper:stages={}", ratio, stages)).mean, 0.3);
    }
  }
}

}  // namespace closed_loop_test
}  // namespace gradcomp::evaluate
