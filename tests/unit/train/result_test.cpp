// The row and the tables of one method, with figures that are computed by hand.
#include "gradcomp/train/result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "gradcomp/method/spec.hpp"

namespace gradcomp::train {
namespace result_test {

using testing::ContainsRegex;

/// Steps of 8 ms (median) with 64 samples and 0.5 GFLOP each. 1000 parameters take 400 bytes.
MethodResult result(const std::string& spec = "top_k") {
  MethodResult r;
  r.contender = contenders(Options(), parse_methods(spec)).front();
  r.strategy = "overlapped";
  r.step_ms = {8, 4, 20};
  r.step_link = {0, 0, 0};
  r.stage_ms = {{"forward", 1.5}, {"compress", 0.25}};
  r.payload_bytes = 400;
  r.header_bytes = 32;
  r.wire_bytes = 900;
  r.dense_bytes = 4000;
  r.samples_per_step = 64;
  r.rank_gflop = 0.5;
  r.state_bytes = 4000;
  r.test_quality = r.test_accuracy = 0.875;
  r.test_loss = 0.5;
  r.validation_quality = 0.75;
  r.validation_loss = 0.625;
  r.parameters_hash = 0xabc;
  return r;
}

const JobFacts job{Options(), "data", {0.1, std::log(10.0), 2000}, {}};

report::Json row_of(const MethodResult& r) { return to_row({r}, 0, job).json(); }

TEST(TrainingRow, HoldsRatesAndRatiosByHand) {
  const auto row = row_of(result());
  EXPECT_EQ(row["parameters"], 1000);
  EXPECT_EQ(row["compression_ratio"], 10);
  EXPECT_EQ(row["step_time_ms"]["median"], 8);
  EXPECT_EQ(row["samples_per_second"], 8000);
  EXPECT_EQ(row["gflop_per_second"], 62.5);
  EXPECT_EQ(row["state_bytes_per_parameter"], 4);
  EXPECT_EQ(row["test_quality"], 0.875);
  EXPECT_EQ(row["validation_quality"], 0.75);
  EXPECT_EQ(row["validation_loss"], 0.625);
  EXPECT_EQ(row["replica_hash_equal"], true);
  EXPECT_EQ(row["parameters_hash"], "0000000000000abc");
  for (const char* column : {"loss_floor", "joules_per_step", "bucket_kib", "bucket_sweep", "tuning_steps", "target",
                             "diverged_at_step", "skipped_steps", "over_links"}) {
    EXPECT_FALSE(row.contains(column)) << column;
  }
  EXPECT_TRUE(row_of(result("no_exchange"))["replica_hash_equal"].is_null());
}

TEST(TrainingRow, TellsWhatWasAskedFor) {
  MethodResult r = result();
  r.loss_floor = 1.25;
  r.joules_per_step = 3.5;
  r.contender.bucket_kib = 512;
  r.contender.bucket_sweep = "real link, strategy overlapped";
  r.contender.tuning = TuningCost{60, 7.5};
  r.target = 0.8;
  auto row = row_of(r);
  EXPECT_EQ(row["loss_floor"], 1.25);
  EXPECT_EQ(row["joules_per_step"], 3.5);
  EXPECT_EQ(row["bucket_kib"], 512);
  EXPECT_EQ(row["bucket_sweep"], "real link, strategy overlapped");
  EXPECT_EQ(row["tuning_steps"], 60);
  EXPECT_EQ(row["tuning_s"], 7.5);
  EXPECT_EQ(row["target"], 0.8);
  EXPECT_EQ(row["target_reached"], false);
  for (const char* column : {"steps_to_target", "time_to_target_s", "wire_bytes_to_target"}) {
    EXPECT_TRUE(row[column].is_null()) << column;
  }
  r.reached = Reached{300, 2.5, 1e6};
  row = row_of(r);
  EXPECT_EQ(row["target_reached"], true);
  EXPECT_EQ(row["steps_to_target"], 300);
  EXPECT_EQ(row["time_to_target_s"], 2.5);
  EXPECT_EQ(row["wire_bytes_to_target"], 1e6);
}

TEST(TrainingRow, NamesTheJobAndItsConditions) {
  MethodResult r = result("top_k:ratio=0.01:lr=0.25:label=mine");
  r.period = 4;
  r.workers = 3;
  Options options;
  options.model = "vgg11";
  options.seed = 7;
  const auto row = to_row({r}, 0, {options, "images:train=9", job.trivial, {}}).json();
  EXPECT_EQ(row["name"], "train/vgg11/mine");
  EXPECT_EQ(row["method"], "top_k:ratio=0.01:lr=0.25:label=mine");
  EXPECT_EQ(row["label"], "mine");
  EXPECT_EQ(row["model"], "vgg11");
  EXPECT_EQ(row["data"], "images:train=9");
  EXPECT_EQ(row["steps"], 600);
  EXPECT_EQ(row["batch_per_rank"], 64);
  EXPECT_EQ(row["seed"], 7);
  EXPECT_EQ(row["learning_rate"], 0.25);
  EXPECT_EQ(row["strategy"], "overlapped");
  EXPECT_EQ(row["period"], 4);
  EXPECT_EQ(row["workers"], 3);
  EXPECT_EQ(row["state_bytes"], 4000);
  EXPECT_EQ(row["header_bytes"], 32);
  EXPECT_EQ(row["wire_bytes"], 900);
  EXPECT_EQ(row["metric"], "accuracy");
  EXPECT_EQ(row["stages_ms"], (report::Json{{"compress", 0.25}, {"forward", 1.5}}));
}

/// A run that ended at step 812.
MethodResult diverged() {
  MethodResult r = result();
  r.diverged_at = 812;
  r.test_quality = r.test_accuracy = r.test_loss = r.validation_quality = r.validation_loss = std::nan("");
  return r;
}

TEST(TrainingRow, OfADivergedRunHasTimesAndNoQualities) {
  const auto row = to_row({result("fp32"), diverged()}, 1, job).json();
  EXPECT_EQ(row["diverged_at_step"], 812);
  EXPECT_EQ(row["step_time_ms"]["median"], 8);
  EXPECT_EQ(row["wire_bytes"], 900);
  EXPECT_EQ(row["replica_hash_equal"], true);
  for (const char* column :
       {"test_quality", "test_accuracy", "test_loss", "validation_quality", "validation_loss", "lack"}) {
    EXPECT_TRUE(row[column].is_null()) << column;
  }
  EXPECT_FALSE(row.contains("parameters_hash"));
  EXPECT_THAT(to_table({result("fp32"), diverged()}, job).text(),
              ContainsRegex("top_k .* +400 B +diverged at step 812 +-\n"));
  MethodResult fp32 = diverged();
  fp32.contender = result("fp32").contender;
  EXPECT_THAT(to_table({fp32, result()}, job).text(), ContainsRegex("top_k .* +400 B +87.5 % +-\n"));
}

TEST(TrainingRow, HoldsSlicesAndStaleness) {
  MethodResult r = result();
  for (const char* column : {"sampler", "slices_per_step", "slices", "moved_samples", "staleness_mean"}) {
    EXPECT_FALSE(row_of(r).contains(column)) << column;
  }
  r.sampling = Sampling{"mercury", {{1, 2, 3}, {0, 2}}, 5, 640};
  r.staleness = Staleness{1.5, 4};
  const auto row = row_of(r);
  EXPECT_EQ(row["sampler"], "mercury");
  EXPECT_EQ(row["slices_per_step"], 1.6) << "8 slices in 5 steps of ranks";
  EXPECT_EQ(row["slices"], (report::Json{{1, 2, 3}, {0, 2}}));
  EXPECT_EQ(row["moved_samples"], 5);
  EXPECT_EQ(row["moved_bytes"], 640);
  EXPECT_EQ(row["staleness_mean"], 1.5);
  EXPECT_EQ(row["staleness_max"], 4);
  r.sampling->slices = {{}, {}};
  EXPECT_EQ(row_of(r)["slices_per_step"], 0);
  JobFacts wide = job;
  wide.options.wide = true;
  EXPECT_THAT(to_table({r}, wide).text(), testing::HasSubstr("importance ms"));
}

/// A result with another quality.
MethodResult reached(const char* spec, double quality) {
  MethodResult r = result(spec);
  r.test_quality = quality;
  return r;
}

TEST(TrainingRow, HoldsWhatAJudgeNeeds) {
  const std::vector<MethodResult> all{reached("fp32", 0.9), reached("top_k", 0.875), reached("no_exchange", 0.95)};
  const auto fp32 = to_row(all, 0, job).json(), own = to_row(all, 1, job).json();
  EXPECT_EQ(fp32["role"], "fp32");
  EXPECT_EQ(fp32["lack"], 0);
  EXPECT_EQ(own["role"], "method");
  EXPECT_NEAR(own["lack"].get<double>(), 0.025, 1e-12);
  EXPECT_EQ(own["lack_allowed"], 0.02);
  // 0.1 by chance, and five times the tolerance.
  EXPECT_DOUBLE_EQ(own["reference_quality"].get<double>(), 0.2);
  EXPECT_EQ(to_row(all, 2, job).json()["role"], "bound");
  EXPECT_TRUE(to_row({all[1]}, 0, job).json()["lack"].is_null()) << "there is no fp32";
}

TEST(TrainingRow, HoldsTheStepOverEachLink) {
  MethodResult r = result();
  r.step_link = {0, 1, 0};
  const auto links =
      to_row({r}, 0, {Options(), "data", job.trivial, {{100e6, 1e-5}, {400e6, 1e-5}}}).json()["over_links"];
  ASSERT_EQ(links.size(), 2U);
  EXPECT_EQ(links[0]["rate_mbit_s"], 100);
  EXPECT_EQ(links[0]["step_time_ms"]["mean"], 14);
  EXPECT_EQ(links[1]["rate_mbit_s"], 400);
  EXPECT_EQ(links[1]["step_time_ms"]["mean"], 4);
}

/// Blocks of three steps, of which the first is not timed.
JobFacts blocks(index_t count) {
  JobFacts facts = job;
  facts.options.block = 3;
  facts.options.steps = 3 * count;
  return facts;
}

TEST(TrainingTable, HasALineForEachMethod) {
  auto late = result("fp16"), fp32 = reached("fp32", 0.9), bound = result("no_exchange");
  late.test_quality = 0.885;
  late.step_ms = {15, 17, 16, 20, 14, 16};
  fp32.step_ms = {62, 66, 60, 64, 66, 70};
  bound.step_ms = {4, 4, 4, 4, 4, 4};
  auto lacking = result();
  lacking.step_ms = {8, 8, 8, 8, 8, 8};
  bound.test_quality = 0.8;
  for (auto* r : {&late, &fp32, &bound, &lacking}) r->step_link.assign(6, 0);
  // Means of blocks: 64, 62, 68 and 16, 18, 15 ms. SciPy gives the ends: with the logarithms of their ratios,
  // exp(mean -+ t.ppf(0.975, 2) std / sqrt(3)); with two methods, t.ppf(0.9875, 2).
  const std::string text = to_table({fp32, late, lacking, bound}, blocks(3)).text();
  EXPECT_EQ(text,
            "method       step ms  of no_exchange  bytes  accuracy          speed-up\n"
            "-----------  -------  --------------  -----  --------  ----------------\n"
            "fp32            64.7            16.2  400 B    90.0 %                 -\n"
            "fp16            16.3            4.08  400 B    88.5 %  3.97 (2.82-5.58)\n"
            "top_k           8.00            2.00  400 B    87.5 %                 -\n"
            "no_exchange     4.00            1.00  400 B    80.0 %                 -\n")
      << "top_k lacks more than 2 points";
  late.contender = result().contender;
  EXPECT_THAT(to_table({fp32, late}, blocks(3)).text(), testing::HasSubstr("3.97 (2.82-5.58)"));
  EXPECT_THAT(to_table({fp32, late, lacking}, blocks(3)).text(), testing::HasSubstr("3.97 (2.42-6.49)"));
  late.contender = result("fp16").contender;
  EXPECT_THAT(to_table({late, lacking}, blocks(3)).text(), ContainsRegex("fp16 +16.3 +- +400 B +88.5 % +-\n"))
      << "there is no fp32";
}

TEST(TrainingTable, ShowsNoSpeedUpIfTheTaskTellsNothing) {
  auto fp32 = result("fp32"), own = result(), bound = result("no_exchange");
  for (auto* r : {&fp32, &own, &bound}) r->step_link.assign(4, 0);
  fp32.step_ms = {20, 20, 20, 20};
  own.step_ms = bound.step_ms = {10, 10, 10, 10};
  fp32.test_quality = 0.9;
  own.test_quality = 0.885;
  const auto shown = [&](double without_exchange) {
    bound.test_quality = without_exchange;
    return to_table({fp32, own, bound}, blocks(2)).text().find("2.00 (2.00-2.00)") != std::string::npos;
  };
  EXPECT_TRUE(shown(0.865));
  EXPECT_FALSE(shown(0.885)) << "no_exchange lacks no more than is allowed";
  EXPECT_FALSE(shown(0.875)) << "the method lacks more than half of what no_exchange lacks";
  EXPECT_TRUE(shown(NAN)) << "no_exchange diverged";
}

TEST(TrainingTable, ShowsNoSpeedUpThatMayBeNone) {
  auto fp32 = result("fp32"), own = result("bf16");
  for (auto* r : {&fp32, &own}) r->step_link.assign(6, 0);
  const auto shown = [&](std::vector<double> theirs, std::vector<double> mine, index_t count) {
    fp32.step_ms = std::move(theirs);
    own.step_ms = std::move(mine);
    return to_table({fp32, own}, blocks(count)).text();
  };
  // Its median step is longer, and fp32 was disturbed once: 1.4 of the mean.
  EXPECT_THAT(shown({10, 10, 10, 10, 36, 10}, {10.2, 10.2, 10.2, 10.2, 10.2, 10.2}, 3),
              ContainsRegex("bf16 +10.2 .* -\n"));
  EXPECT_THAT(shown({20, 20, 20, 20}, {10, 10, 10, 10}, 2), ContainsRegex("bf16 +10.0 .* 2.00 \\(2.00-2.00\\)\n"));
  EXPECT_THAT(shown({20, 20}, {10, 10}, 1), ContainsRegex("bf16 +10.0 .* -\n")) << "one block has no interval";
  EXPECT_THAT(shown({10, 10, 10, 10}, {20, 20, 20, 20.2}, 2), ContainsRegex("bf16 +20.1 .* 0.50 \\(0.48-0.51\\)\n"));
}

TEST(TrainingTable, OfAStrategyWithAPeriodHasItsBlocks) {
  JobFacts facts = job;
  facts.options.block = 8;
  facts.options.steps = 20;
  auto fp32 = result("fp32"), own = result("qsgd");
  fp32.step_ms.assign(7 + 7 + 3, 6);
  own.period = 4;
  own.step_ms = {2, 3, 2};  // a period of each block, and the last block is one period
  own.step_link.assign(3, 0);
  fp32.step_link.assign(17, 0);
  EXPECT_THAT(to_table({fp32, own}, facts).text(), ContainsRegex("qsgd +2.33 .* 2.62 \\(1.47-4.69\\)\n"));
}

TEST(TrainingTable, HasAllColumnsIfItIsWide) {
  JobFacts wide = job;
  wide.options.wide = true;
  auto own = result();
  const auto text = [&] { return to_table({reached("fp32", 0.9), own}, wide).text(); };
  // The 95th percentile of {4, 8, 20} is at position 0.95 x 2 = 1.9, and is 8 + 0.9 x 12 = 18.8. Its mean is 32 / 3.
  EXPECT_THAT(text(), ContainsRegex("top_k +10.7 +- +400 B +87.5 % +- +2.5 points +10.0 +8.00 +18.8 +8000 +1.50 +- "
                                    "+0.250 +- +- +- +-\n"));
  EXPECT_THAT(text(), ContainsRegex(
                          "method +step ms +of no_exchange +bytes +accuracy +speed-up +behind fp32 +compression ratio "
                          "+median ms +p95 ms +samples/s +forward ms +backward ms +compress ms +exchange ms +hidden ms "
                          "+exposed ms +decompress ms\n"));
  own.joules_per_step = 3.5;
  EXPECT_THAT(text(), ContainsRegex("top_k .* +3.50\n"));
}

TEST(TrainingTable, CountsStepsWithServersAsManySamples) {
  auto fp32 = result("fp32"), served = result();
  for (auto* r : {&fp32, &served}) r->step_ms.assign(4, 8), r->step_link.assign(4, 0);
  served.ranks = 4;
  served.workers = 3;
  EXPECT_THAT(to_table({fp32, served}, blocks(2)).text(), ContainsRegex("top_k .* 0.75 \\(0.75-0.75\\)\n"))
      << "a step of 3 of 4 ranks";
}

TEST(LinksTable, ShowsEveryLink) {
  auto fp32 = result("fp32"), own = result();
  own.step_link = fp32.step_link = {0, 1, 0, 1};
  fp32.step_ms = {14, 4, 14, 4};
  own.step_ms = {7, 8, 7, 8};
  JobFacts two{Options(), "data", job.trivial, {{100e6, 1e-5}, {400e6, 1e-5}}};
  two.options.block = 1;
  two.options.steps = 4;
  EXPECT_EQ(to_links_table({fp32, own}, two).text(),
            "method       link  step ms  of no_exchange          speed-up\n"
            "------  ---------  -------  --------------  ----------------\n"
            "fp32    100Mbit/s     14.0               -                 -\n"
            "top_k   100Mbit/s     7.00               -  2.00 (2.00-2.00)\n"
            "fp32    400Mbit/s     4.00               -                 -\n"
            "top_k   400Mbit/s     8.00               -  0.50 (0.50-0.50)\n");
  EXPECT_EQ(to_table({fp32, own}, two).text(),
            "method  bytes  accuracy\n"
            "------  -----  --------\n"
            "fp32    400 B    87.5 %\n"
            "top_k   400 B    87.5 %\n")
      << "each link has its own steps";
}

TEST(TargetTable, SaysWhoMissed) {
  auto reached = result();
  reached.reached = Reached{300, 2.5, 1e6};
  const std::string text = to_target_table({reached, result("fp16")}).text();
  EXPECT_THAT(text, ContainsRegex("method +steps +seconds +sent by a rank\n"));
  EXPECT_THAT(text, ContainsRegex("top_k +300 +2.50 +1.00 MB\n"));
  EXPECT_THAT(text, ContainsRegex("fp16 +missed +- +-\n"));
}

TEST(MethodResult, SpeedIsTheTotalTimeOfTheSteps) {
  auto r = result();
  r.step_ms = {1, 1, 1, 97};
  r.step_link = {0, 1, 0, 1};
  EXPECT_EQ(r.median_ms(), 1);
  EXPECT_EQ(r.mean_ms(), 25) << "a step that sends everything counts";
  EXPECT_EQ(r.step_ms_over(1), (std::vector<double>{1, 97}));
}

TEST(Metric, IsOfTheKindOfTheTask) {
  const nn::Loss loss{4 * std::log(50.0), 3, 4};
  const Metric accuracy;
  for (const auto kind : {InputShape::Kind::images, InputShape::Kind::frames}) {
    EXPECT_EQ(Metric(kind).name, "accuracy");
    EXPECT_EQ(Metric(kind).of(loss), 0.75);
    EXPECT_EQ(Metric(kind).text(0.75), "75.0 %");
  }
  const Metric perplexity(InputShape::Kind::tokens);
  EXPECT_EQ(perplexity.name, "perplexity");
  EXPECT_NEAR(perplexity.of(loss), 50, 1e-12);
  EXPECT_FALSE(perplexity.reaches(std::nan(""), 60) || accuracy.reaches(std::nan(""), 0));
  EXPECT_DOUBLE_EQ(accuracy.lack(0.8, 0.9), 0.9 - 0.8);
  EXPECT_DOUBLE_EQ(perplexity.lack(50, 100), -std::log(2.0));
  EXPECT_EQ(perplexity.lack_text(std::log(1.023)), "2.3 %");
  EXPECT_EQ(accuracy.lack_text(-0.0123), "-1.2 points");
  EXPECT_NEAR(perplexity.limit(0.05), std::log(1.05), 1e-15);
  EXPECT_EQ(accuracy.of(Trivial{0.25, 1, 4}), 0.25);
  EXPECT_DOUBLE_EQ(perplexity.of(Trivial{0.25, std::log(7.0), 4}), 7);
}

TEST(Metric, KnowsWhatIsWorthMatching) {
  EXPECT_DOUBLE_EQ(Metric().enough({0.1, 2, 2000}, 0.02), 0.2) << "five times the tolerance";
  EXPECT_DOUBLE_EQ(Metric().enough({0.1, 2, 2000}, 0.001), 0.15) << "0.05";
  EXPECT_DOUBLE_EQ(Metric().enough({0.1, 2, 30}, 0), 0.1 + 3 * std::sqrt(0.1 * 0.9 / 30)) << "three standard errors";
  const Metric perplexity(InputShape::Kind::tokens);
  EXPECT_NEAR(perplexity.enough({0.1, std::log(300.0), 2000}, 0.02), 300 / std::pow(1.02, 5), 1e-9);
}

}  // namespace result_test
}  // namespace gradcomp::train
