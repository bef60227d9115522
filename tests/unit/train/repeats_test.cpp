// Figures over seeds, computed by hand.
#include "gradcomp/train/repeats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gradcomp/method/spec.hpp"

namespace gradcomp::train {
namespace {

MethodResult result(const char* spec, double quality, const std::vector<double>& step_ms, double wire = 100) {
  MethodResult r;
  r.contender = contenders(Options(), parse_methods(spec)).front();
  r.step_ms = step_ms;
  r.step_link.assign(step_ms.size(), 0);
  r.test_quality = quality;
  r.wire_bytes = wire;
  r.dense_bytes = 4000;
  return r;
}

/// fp32 and top_k with two seeds. Steps take 12 and 16 ms on average with fp32, and 6 and 4 ms with top_k.
std::vector<Repeat> two_seeds() {
  return {{7, {result("fp32", 0.90, {10, 14}), result("top_k", 0.89, {6, 6}, 10)}},
          {8, {result("fp32", 0.94, {16, 16}), result("top_k", 0.95, {1, 7}, 20)}}};
}

const Rules rules{Metric(), 0.05, {0.1, 2, 1000}, false, true};

TEST(MethodResult, SpeedIsTheTotalTimeOfTheSteps) {
  const auto r = result("fp32", 0.9, {1, 1, 1, 97});
  EXPECT_EQ(r.median_ms(), 1);
  EXPECT_EQ(r.mean_ms(), 25);
  EXPECT_EQ(outcome_of(r).step_time, 25) << "a step that sends everything counts";
  auto over_links = r;
  over_links.step_link = {0, 1, 0, 1};
  EXPECT_EQ(over_links.step_ms_over(1), (std::vector<double>{1, 97}));
  EXPECT_EQ(outcome_of(over_links, 1).step_time, 49);
  EXPECT_EQ(outcome_of(over_links, 0).step_time, 1);
}

TEST(Repeats, RowsHoldMeansIntervalsAndPairedLacks) {
  const auto repeats = two_seeds();
  const auto all = entrants(repeats);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].role, Entrant::Role::fp32);
  EXPECT_EQ(all[1].seeds[1].quality, 0.95);
  const auto verdicts = judge(all, {Metric(), 0.05, {0.1, 2, 1000}, false, false});
  const auto row = to_row(repeats, verdicts, 1, Options(), "data").json();
  EXPECT_EQ(row["seeds"], (report::Json{7, 8}));
  // Means of 0.89 and 0.95, of 10 and 20 bytes, of 6 and 4 ms; t(1, 0.975) = 12.7062 (scipy.stats.t.ppf).
  EXPECT_DOUBLE_EQ(row["test_quality_over_seeds"]["mean"].get<double>(), 0.92);
  EXPECT_NEAR(row["test_quality_over_seeds"]["low"].get<double>(), 0.92 - 12.7062 * 0.03, 1e-5);
  EXPECT_NEAR(row["test_quality_over_seeds"]["high"].get<double>(), 0.92 + 12.7062 * 0.03, 1e-5);
  EXPECT_DOUBLE_EQ(row["wire_bytes_over_seeds"]["mean"].get<double>(), 15);
  EXPECT_DOUBLE_EQ(row["step_time_ms_over_seeds"]["mean"].get<double>(), 5);
  // The lacks 0.90 - 0.89 and 0.94 - 0.95 have the mean 0.
  EXPECT_NEAR(row["lack_over_seeds"]["mean"].get<double>(), 0, 1e-15);
  EXPECT_NEAR(row["lack_over_seeds"]["high"].get<double>(), 12.7062 * 0.01, 1e-5);
  auto worse = repeats;
  worse[1].results[1].test_quality = 0.85;  // lacks of 0.01 and 0.09
  const auto lack = to_row(worse, verdicts, 1, Options(), "data").json()["lack_over_seeds"];
  EXPECT_NEAR(lack["mean"].get<double>(), 0.05, 1e-12) << "above 0 where the method is worse";
  EXPECT_FALSE(row["quality_matched"].get<bool>()) << "two seeds that differ are not enough";
  EXPECT_TRUE(row["speedup_vs_fp32_over_seeds"].is_null());
}

TEST(Repeats, SpeedUpsAreMeansOfRatiosWithTheSameSeed) {
  auto repeats = two_seeds();
  repeats[0].results[1].test_quality = 0.90;
  repeats[1].results[1].test_quality = 0.94;
  const auto verdicts = judge(entrants(repeats), rules);
  EXPECT_TRUE(verdicts[1].quality_matched);
  const auto row = to_row(repeats, verdicts, 1, Options(), "data").json();
  EXPECT_DOUBLE_EQ(row["speedup_vs_fp32_over_seeds"]["mean"].get<double>(), (12.0 / 6 + 16.0 / 4) / 2);
  EXPECT_TRUE(row["speedup_vs_best_dense_over_seeds"].is_null()) << "fp16 and bf16 are missing";
}

TEST(Repeats, ARowSaysThatItIsAMean) {
  Options options;
  options.model = "vgg11";
  const Verdict none{false, {{}, {}}};
  const auto row = to_row(two_seeds(), {none, none}, 1, options, "images").json();
  EXPECT_EQ(row["name"], "train/vgg11/top_k/seeds");
  EXPECT_EQ(row["method"], "top_k");
  EXPECT_EQ(row["run_type"], "aggregate");
  EXPECT_EQ(row["aggregate_name"], "mean");
  EXPECT_EQ(row["repetitions"], 2);
  EXPECT_EQ(row["iterations"], 2);
  EXPECT_EQ(row["real_time"], 5);
  EXPECT_EQ(row["cpu_time"], 5);
  EXPECT_EQ(row["time_unit"], "ms");
  EXPECT_EQ(row["model"], "vgg11");
  EXPECT_EQ(row["data"], "images");
  EXPECT_EQ(row["metric"], "accuracy");
  EXPECT_FALSE(row.contains("seeds_at_target"));
  std::vector<Repeat> alone{{7, {result("top_k", 0.89, {6})}}};
  const auto without = to_row(alone, {Verdict{false, {{}}}}, 0, options, "images").json();
  EXPECT_TRUE(without["lack_over_seeds"].is_null()) << "there is no fp32";
}

TEST(Repeats, TheTableHasALineForEachMethod) {
  auto repeats = two_seeds();
  repeats[0].results[1].reached = Reached{300, 2.5, 1000};
  repeats[1].results[1].reached = Reached{300, 2.5, 3000};
  const SpeedUps first{2.0, 1.5, 1.25}, second{2.0, 1.5, 1.25};
  const std::string text = to_table(repeats, {Verdict{false, {{}, {}}}, Verdict{true, {first, second}}}).text();
  EXPECT_THAT(text, testing::ContainsRegex(
                        "mean \\+- 95 % interval +test +steps to +seconds to +bytes to +speed-up +vs best *"));
  EXPECT_THAT(
      text, testing::ContainsRegex("over seeds +accuracy +step ms +target +target +target +vs fp32 +dense +to target"));
  // t(1, 0.975) = 12.7062: 0.03 and 1 times that.
  EXPECT_THAT(text,
              testing::ContainsRegex("top_k +0.9200 \\+- 0.38 +5.000 \\+- 13 +300.0 \\+- 0 +2.500 \\+- 0 +2.00 kB "
                                     "+2.000 \\+- 0 +1.500 \\+- 0 +1.250 \\+- 0"));
  EXPECT_THAT(text, testing::ContainsRegex("fp32 +0.9200 \\+- 0.25 +14.00 \\+- 25 +- +- +- +- +- +-"));
}

TEST(Repeats, AFigureThatASeedLacksIsNone) {
  Options options;
  options.target = "accuracy=0.5";
  auto repeats = two_seeds();
  repeats[0].results[1].reached = Reached{300, 2.5, 1000};
  const Verdict none{false, {{}, {}}};
  const auto row = to_row(repeats, {none, none}, 1, options, "data").json();
  EXPECT_EQ(row["seeds_at_target"], 1);
  EXPECT_TRUE(row["steps_to_target_over_seeds"].is_null()) << "a mean over the successful seeds would be too good";
  repeats[1].results[1].reached = Reached{500, 3.5, 3000};
  const auto both = to_row(repeats, {none, none}, 1, options, "data").json();
  EXPECT_EQ(both["steps_to_target_over_seeds"]["mean"], 400);
  EXPECT_EQ(both["time_to_target_s_over_seeds"]["mean"], 3);
  EXPECT_EQ(both["wire_bytes_to_target_over_seeds"]["mean"], 2000);
}

}  // namespace
}  // namespace gradcomp::train
