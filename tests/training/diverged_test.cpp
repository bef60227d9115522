// A value that is not finite on one rank ends the run of its method: on all ranks, at the same step, and without a
// hang. Other methods of the job train as if they were alone.
#include <cmath>

#include "gradcomp/train/result.hpp"
#include "training/any_ranks.hpp"
#include "training/spoilt.hpp"

namespace gradcomp::train::test {
namespace diverged_test {

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

/// Messages of every kind, over every reducer.
const char* const methods[] = {"fp32",
                               "qsgd:bits=4",
                               "top_k:ratio=0.05",
                               "ef_sign",
                               "fp16",
                               "bf16:reducer=tree",
                               "powersgd:rank=2",
                               "sign",
                               "top_k:ratio=0.05:reducer=gtop_k",
                               "top_k:ratio=0.05:reducer=ok_topk",
                               "ef_sign:reducer=two_phase",
                               "qsgd:bits=4:reducer=requantising_ring",
                               "fp16:reducer=hierarchical:reducer.ranks_per_node=1",
                               "top_k:ratio=0.05:feedback=ef21"};

/// Whether the strategy exchanges every second step alone.
bool exchanges_in_turn(const std::string& strategy) {
  return strategy.find("=2") != std::string::npos && strategy.find("inner=mean") == std::string::npos &&
         (strategy.starts_with("accumulate") || strategy.starts_with("local"));
}

/// Whether ranks learn it at different times: those that are behind, in an earlier step of their own.
bool asynchronous(const std::string& strategy) {
  return strategy.find("mode=async") != std::string::npos || strategy.find("mode=bounded") != std::string::npos;
}

/// Steps on gradients of which one is spoilt in step `at` on rank `bad`.
void expect_end(const Setting& setting, Transport& comm, index_t at, int bad, float value) {
  StrategyRig rig(setting, comm);
  for (index_t step = 0; step < 4 && !(rig.in_step() && rig.diverged() >= 0); ++step) {
    come_late(comm, step);
    rig.step(step, step == at && comm.rank() == bad ? std::optional(value) : std::nullopt);
  }
  const index_t expected = exchanges_in_turn(setting.strategy) ? at | 1 : at;
  if (rig.in_step()) {
    EXPECT_EQ(rig.diverged(), expected) << setting.text() << ", rank " << comm.rank();
  }
  rig.drain();
  const double own = rig.diverged() < 0 ? 1e9 : static_cast<double>(rig.diverged());
  const auto least = static_cast<index_t>(gradcomp::min_over_ranks(comm, {own})[0]);
  EXPECT_TRUE(least == expected || (asynchronous(setting.strategy) && least < expected)) << setting.text() << least;
  if (setting.strategy.starts_with("servers")) {
    EXPECT_TRUE(gradcomp::test::all_finite(rig.agreed())) << setting.text() << ": servers get no such gradient";
  }
}

TEST(Diverged, EveryStrategyEndsOnAllRanksInTheSameStep) {
  const auto comm = world();
  const std::size_t most = comm->size() > 2 ? 4 : std::size(methods);
  int ended = 0;
  for (const std::string& strategy : strategies_on(comm->size())) {
    const int bad = strategy.find("dedicated=on") == std::string::npos ? comm->size() - 1 : 0;
    for (std::size_t m = 0; m < most; ++m) {
      for (const float value : {nan, infinity}) {
        for (const index_t at : {2, 3}) {  // 3: the last step, so that asynchronous ranks learn it when they meet
          try {
            expect_end(without_forward(methods[m], strategy), *comm, at, bad, value);
            ++ended;
          } catch (const AgreedError& refused) {
            EXPECT_THAT(refused.what(), testing::HasSubstr("strategy servers: ")) << methods[m];
          }
        }
      }
    }
  }
  EXPECT_GE(ended, 100);
}

// Between exchanges a rank is alone with its parameters.
TEST(Diverged, LocalStepsEndWithTheirExchange) {
  const auto comm = world();
  for (const char* method : methods) {
    StrategyRig rig({method, "local:period=3:outer_momentum=0.5"}, *comm);
    rig.step(0);
    if (comm->rank() == 0) rig.spoil_parameter(infinity);
    rig.step(1);
    EXPECT_LT(rig.diverged(), 0) << method;
    rig.step(2);
    EXPECT_EQ(rig.diverged(), 2) << method;
  }
}

const std::string good = "qsgd:label=good_1:strategy=overlapped,";
const std::string also_good = ",top_k:ratio=0.02:label=good_2:strategy=local:strategy.period=2";

/// The good methods are first and last in `results`.
void expect_good(const std::vector<MethodResult>& results, const std::vector<MethodResult>& alone) {
  for (const auto& [found, expected] : {std::pair{results.front(), alone.front()}, {results.back(), alone.back()}}) {
    EXPECT_FALSE(found.diverged_at) << found.contender.spec.label;
    EXPECT_EQ(found.parameters_hash, expected.parameters_hash) << found.contender.spec.label;
    EXPECT_EQ(found.test_loss, expected.test_loss) << found.contender.spec.label;
    EXPECT_EQ(found.curve.loss, expected.curve.loss) << found.contender.spec.label;
    EXPECT_EQ(found.step_ms.size(), expected.step_ms.size()) << found.contender.spec.label;
  }
}

std::vector<MethodResult> good_alone() { return Rig().run(good.substr(0, good.size() - 1) + also_good); }

std::string joined(std::span<const char* const> list) {
  std::string all;
  for (const char* method : list) all += (all.empty() ? "" : ",") + std::string(method);
  return all;
}

TEST(Diverged, TrainersEndOneMethodAndGoOnWithTheOthers) {
  const auto alone = good_alone();
  const int ranks = world()->size();
  for (const std::string strategy :
       {"overlapped", "synchronous", "accumulate:every=2", "local:period=2", "local:period=2:inner=mean",
        "priority:bucket_kib=40", "priority:bucket_kib=40:credit=100:order=tac", "servers", "servers:servers=1",
        "servers:mode=async", "servers:mode=bounded:bound=0", "servers:mode=bounded:bound=2:servers=1",
        "servers:dedicated=on:servers=1", "servers:dedicated=on:servers=1:mode=async",
        "servers:dedicated=on:servers=1:mode=bounded:bound=0"}) {
    const bool apart = strategy.find("dedicated=on") != std::string::npos, served = strategy.starts_with("servers");
    if (apart && ranks == 1) continue;
    for (const auto& [where, value] : {std::pair{Spoil::Where::gradient, nan},
                                       {Spoil::Where::gradient, infinity},
                                       {Spoil::Where::parameters, nan},
                                       {Spoil::Where::parameters, infinity}}) {
      SpoiltRig rig({where, value, 2, apart ? 0 : -1});
      rig.options.strategy = strategy;
      const bool all_methods = where == Spoil::Where::gradient && value != infinity && !served;
      const auto list = std::span(methods).first(all_methods ? std::size(methods) : served ? 3 : 2);
      const auto results = rig.run(good + joined(list) + also_good);
      expect_good(results, alone);
      for (std::size_t m = 1; m + 1 < results.size(); ++m) {
        const MethodResult& result = results[m];
        const index_t expected = exchanges_in_turn(strategy) ? 4 : 3, found = result.diverged_at.value_or(0);
        EXPECT_TRUE(found == expected || (asynchronous(strategy) && found > 0 && found < expected))
            << result.contender.spec.text << " " << strategy << " " << found;
        EXPECT_TRUE(gradcomp::equal_over_ranks(*rig.control, static_cast<std::uint64_t>(found))) << strategy;
        EXPECT_TRUE(std::isnan(result.test_quality) && std::isnan(result.validation_loss)) << strategy;
        EXPECT_TRUE(result.curve.step.empty()) << strategy;
      }
    }
  }
}

// The running statistics of a batch norm change no gradient.
TEST(Diverged, AnEvaluationWhoseLossIsNotFiniteEndsTheRun) {
  const auto alone = good_alone();
  for (const char* strategy : {"overlapped", "local:period=2", "priority", "servers", "servers:mode=async"}) {
    SpoiltRig rig({Spoil::Where::statistics, nan, 5, -1});
    rig.options.strategy = strategy;
    const auto results = rig.run(good + "fp32,top_k:ratio=0.05" + also_good);
    expect_good(results, alone);
    for (const MethodResult& result : {results[1], results[2]}) {
      EXPECT_EQ(result.diverged_at, 8) << strategy;
      EXPECT_EQ(result.curve.step, std::vector<index_t>{4}) << strategy;
    }
  }
}

TEST(Diverged, BoundsAreTimedToTheEnd) {
  const auto alone = good_alone();
  for (const auto where : {Spoil::Where::gradient, Spoil::Where::parameters, Spoil::Where::statistics}) {
    SpoiltRig rig({where, nan, 2, -1});
    const auto results =
        rig.run(good + "no_exchange,fp32:reducer=local,fp32:reducer=local:strategy=priority:label=p" + also_good);
    expect_good(results, alone);
    for (std::size_t m = 1; m <= 3; ++m) {
      EXPECT_FALSE(results[m].diverged_at) << m;
      EXPECT_EQ(results[m].step_ms.size(), results[0].step_ms.size()) << m;
    }
  }
}

/// Ranks that are not in step learn it in different steps, but count the slices of as many.
TEST(Diverged, RanksCountTheSlicesOfAsManySteps) {
  for (const char* strategy : {"overlapped", "priority", "servers:mode=async"}) {
    SpoiltRig rig;
    rig.options.strategy = strategy;
    rig.options.block = 8;
    rig.options.evaluate_every = 8;
    rig.on_step = [&rig, count = rig.on_step](const std::string& label) {
      if (rig.control->rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      count(label);
    };
    const MethodResult result = rig.run("fp32:sampler=mercury:sampler.slices=2:sampler.slice=3")[0];
    EXPECT_TRUE(result.diverged_at) << strategy;
    for (const auto& slices : result.sampling->slices) EXPECT_EQ(slices.size(), result.sampling->slices[0].size());
  }
}

TEST(Diverged, InTheFirstStepNothingWasTimed) {
  SpoiltRig rig({Spoil::Where::gradient, nan, 0, -1});
  const auto results = rig.run("fp32");
  EXPECT_EQ(results[0].diverged_at, 1);
  EXPECT_TRUE(results[0].step_ms.empty());
  const JobFacts job{rig.options, "rows", {0.1, 2, 100}, {}};
  const auto row = report::Json::parse(to_row(results, 0, job).json().dump());
  EXPECT_EQ(row["diverged_at_step"], 1);
  EXPECT_TRUE(row["step_time_ms"]["median"].is_null());
  EXPECT_FALSE(to_table(results, job).text().empty());
}

}  // namespace diverged_test
}  // namespace gradcomp::train::test
