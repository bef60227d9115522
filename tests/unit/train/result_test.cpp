// The row and the tables of one method, with figures that are computed by hand.
#include "gradcomp/train/result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "gradcomp/method/spec.hpp"

namespace gradcomp::train {
namespace {

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

TEST(TrainingRow, HoldsRatesAndRatiosByHand) {
  const auto row = to_row(result(), true, {2.0, 1.5, {}}, Options(), "data").json();
  EXPECT_EQ(row["parameters"], 1000);
  EXPECT_EQ(row["compression_ratio"], 10);
  EXPECT_EQ(row["step_time_ms"]["median"], 8);
  EXPECT_EQ(row["samples_per_second"], 8000);
  EXPECT_EQ(row["gflop_per_second"], 62.5);
  EXPECT_EQ(row["state_bytes_per_parameter"], 4);
  EXPECT_EQ(row["speedup_vs_fp32"], 2);
  EXPECT_EQ(row["speedup_vs_best_dense"], 1.5);
  EXPECT_EQ(row["test_quality"], 0.875);
  EXPECT_EQ(row["validation_quality"], 0.75);
  EXPECT_EQ(row["validation_loss"], 0.625);
  EXPECT_EQ(row["replica_hash_equal"], true);
  EXPECT_EQ(row["parameters_hash"], "0000000000000abc");
  for (const char* column : {"loss_floor", "joules_per_step", "bucket_kib", "bucket_sweep", "tuning_steps", "target",
                             "diverged_at_step", "skipped_steps"}) {
    EXPECT_FALSE(row.contains(column)) << column;
  }
  EXPECT_TRUE(to_row(result("no_exchange"), false, {}, Options(), "data").json()["replica_hash_equal"].is_null());
}

TEST(TrainingRow, TellsWhatWasAskedFor) {
  MethodResult r = result();
  r.loss_floor = 1.25;
  r.joules_per_step = 3.5;
  r.contender.bucket_kib = 512;
  r.contender.bucket_sweep = "real link, strategy overlapped";
  r.contender.tuning = TuningCost{60, 7.5};
  r.target = 0.8;
  auto row = to_row(r, true, {2.0, 1.5, 1.25}, Options(), "data").json();
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
  row = to_row(r, true, {2.0, 1.5, 1.25}, Options(), "data").json();
  EXPECT_EQ(row["target_reached"], true);
  EXPECT_EQ(row["steps_to_target"], 300);
  EXPECT_EQ(row["time_to_target_s"], 2.5);
  EXPECT_EQ(row["wire_bytes_to_target"], 1e6);
  EXPECT_EQ(row["speedup_to_target"], 1.25);
}

TEST(TrainingRow, NamesTheJobAndItsConditions) {
  MethodResult r = result("top_k:ratio=0.01:lr=0.25:label=mine");
  r.period = 4;
  r.workers = 3;
  Options options;
  options.model = "vgg11";
  options.seed = 7;
  const auto row = to_row(r, true, {}, options, "images:train=9").json();
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
  const auto row = to_row(diverged(), false, {}, Options(), "data").json();
  EXPECT_EQ(row["diverged_at_step"], 812);
  EXPECT_EQ(row["step_time_ms"]["median"], 8);
  EXPECT_EQ(row["wire_bytes"], 900);
  EXPECT_EQ(row["replica_hash_equal"], true);
  EXPECT_EQ(row["quality_matched"], false);
  for (const char* column : {"test_quality", "test_accuracy", "test_loss", "validation_quality", "validation_loss",
                             "speedup_vs_fp32", "speedup_vs_best_dense"}) {
    EXPECT_TRUE(row[column].is_null()) << column;
  }
  EXPECT_FALSE(row.contains("parameters_hash"));
  EXPECT_THAT(to_table({diverged()}, {{}}).text(), ContainsRegex("top_k .* +8000 +diverged at step 812 +- +- *\n"));
  EXPECT_EQ(outcome_of(diverged()).diverged_at, 812);
}

TEST(TrainingRow, HoldsSlicesAndStaleness) {
  MethodResult r = result();
  for (const char* column : {"sampler", "slices_per_step", "slices", "moved_samples", "staleness_mean"}) {
    EXPECT_FALSE(to_row(r, true, {}, Options(), "data").json().contains(column)) << column;
  }
  r.sampling = Sampling{"mercury", {{1, 2, 3}, {0, 2}}, 5, 640};
  r.staleness = Staleness{1.5, 4};
  const auto row = to_row(r, true, {}, Options(), "data").json();
  EXPECT_EQ(row["sampler"], "mercury");
  EXPECT_EQ(row["slices_per_step"], 1.6) << "8 slices in 5 steps of ranks";
  EXPECT_EQ(row["slices"], (report::Json{{1, 2, 3}, {0, 2}}));
  EXPECT_EQ(row["moved_samples"], 5);
  EXPECT_EQ(row["moved_bytes"], 640);
  EXPECT_EQ(row["staleness_mean"], 1.5);
  EXPECT_EQ(row["staleness_max"], 4);
  r.sampling->slices = {{}, {}};
  EXPECT_EQ(to_row(r, true, {}, Options(), "data").json()["slices_per_step"], 0);
  EXPECT_THAT(to_table({r}, {{}}).text(), testing::HasSubstr("importance"));
}

TEST(Outcome, IsScaledToAsManySamplesAsAllRanksWouldTake) {
  MethodResult r = result();
  r.ranks = 4;
  r.workers = 3;
  r.reached = Reached{300, 2.5, 1e6};
  r.replicas_equal = false;
  const Outcome outcome = outcome_of(r);
  EXPECT_DOUBLE_EQ(outcome.step_time, 4.0 / 3 * 32 / 3);
  EXPECT_EQ(outcome.quality, 0.875);
  EXPECT_EQ(outcome.time_to_target, 2.5);
  EXPECT_TRUE(outcome.reached_target);
  EXPECT_FALSE(outcome.replicas_equal);
}

TEST(BucketsSwept, NeedsAllThreeControlsAtBucketsOfTheirOwn) {
  std::vector<MethodResult> all{result("fp32"), result("fp16"), result("bf16"), result("top_k")};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(buckets_swept(all)) << i;
    all[i].contender.bucket_kib = 256;
  }
  EXPECT_TRUE(buckets_swept(all));
  all.erase(all.begin());
  EXPECT_FALSE(buckets_swept(all));
}

TEST(TrainingTable, HasALineForEachMethod) {
  auto late = result("fp16");
  late.payload_bytes = 0;
  // The 95th percentile of {4, 8, 20} is at position 0.95 x 2 = 1.9, and is 8 + 0.9 x 12 = 18.8.
  const std::string text = to_table({result(), late}, {{2.0, 1.5, {}}, {}}).text();
  EXPECT_THAT(text,
              ContainsRegex("top_k +400 B +10.0 +8.00 +18.8 +1.50 +- +0.250 +- +- +- +- +8000 +87.5 % +2.00x +1.50x"));
  EXPECT_THAT(text, ContainsRegex("fp16 +0 B +- +8.00 .* +- +-\n"));
  EXPECT_THAT(text,
              ContainsRegex(" +payload +compression +step ms +forward +backward +compress +exchange +hidden +exposed "
                            "+decompress +samples +test +speed-up +vs best *\n"
                            "method +per step +ratio +median +p95 +ms +ms +ms +ms +ms +ms +ms +per s +accuracy "
                            "+vs fp32 +dense *\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("joules")));
  late.joules_per_step = 3.5;
  EXPECT_THAT(to_table({result(), late}, {{}, {}}).text(), ContainsRegex("fp16 .* +3.50\n"));
}

TEST(TargetTable, SaysWhoMissed) {
  auto reached = result();
  reached.reached = Reached{300, 2.5, 1e6};
  const std::string text = to_target_table({reached, result("fp16")}, {{{}, {}, 1.25}, {}}).text();
  EXPECT_THAT(text, ContainsRegex("top_k +300 +2.50 +1.00 MB +1.25x"));
  EXPECT_THAT(text, ContainsRegex("fp16 +missed +- +- +-\n"));
  EXPECT_THAT(text, ContainsRegex(" +steps to +seconds to +sent by a rank +speed-up *\n"
                                  "method +target +target +to target +to target *\n"));
}

}  // namespace
}  // namespace gradcomp::train
