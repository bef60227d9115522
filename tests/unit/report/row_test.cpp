// Columns of a row: names, units, and values that do not exist.
#include "gradcomp/report/row.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradcomp::report {
namespace row_test {

TEST(Row, StatisticsAreNumPysQuantiles) {
  // numpy.percentile([4, 1, 3, 2], [5, 50, 95]) = 1.15, 2.5, 3.85
  const auto s = summary({4, 1, 3, 2});
  EXPECT_NEAR(s["p5"].get<double>(), 1.15, 1e-12);
  EXPECT_NEAR(s["median"].get<double>(), 2.5, 1e-12);
  EXPECT_NEAR(s["p95"].get<double>(), 3.85, 1e-12);
  EXPECT_EQ(s["minimum"], 1.0);
  EXPECT_EQ(s["mean"], 2.5);
  EXPECT_EQ(s["count"], 4);
}

TEST(Row, NoSamplesAreNull) {
  const auto s = summary({});
  EXPECT_TRUE(s["median"].is_null() && s["p95"].is_null() && s["mean"].is_null());
  EXPECT_EQ(s["count"], 0);
}

TEST(Row, CarriesGoogleBenchmarksColumns) {
  const auto row = Row("train/a").step_times({3, 1, 2}, 5.0).json();
  EXPECT_EQ(row["name"], "train/a");
  EXPECT_EQ(row["run_type"], "iteration");
  EXPECT_EQ(row["real_time"], 2.0);
  EXPECT_EQ(row["cpu_time"], 5.0);
  EXPECT_EQ(row["time_unit"], "ms");
  EXPECT_EQ(row["iterations"], 3);
  EXPECT_EQ(row["step_time_ms"]["median"], 2.0);
  EXPECT_EQ(row["step_times_ms"], (Json{3.0, 1.0, 2.0})) << "raw samples keep their order";
}

TEST(Row, HasTheColumnsOfASingleRun) {
  const auto row = Row("train/a").method("top_k:label=x", "top_k:ratio=0.01", "x").json();
  EXPECT_EQ(row, (Json{{"name", "train/a"},
                       {"run_name", "train/a"},
                       {"run_type", "iteration"},
                       {"repetitions", 1},
                       {"repetition_index", 0},
                       {"threads", 1},
                       {"method", "top_k:label=x"},
                       {"method_canonical", "top_k:ratio=0.01"},
                       {"label", "x"}}));
  const auto times = Row("x").times("time_ms", "times_ms", {4, 2}).json();
  EXPECT_EQ(times["cpu_time"], 3) << "it was not measured, so it is the median of the other";
  EXPECT_EQ(times["time_ms"]["minimum"], 2);
  EXPECT_EQ(times["iterations"], 2);
}

TEST(Row, WhatIsNotFiniteIsNull) {
  EXPECT_TRUE(or_null({}).is_null() && or_null(std::nan("")).is_null() && or_null(HUGE_VAL).is_null());
  EXPECT_EQ(or_null(0.0), 0);
  const auto row = Row("x").stages({{"forward", 1.5}, {"hidden", std::nan("")}}).metric("accuracy", HUGE_VAL).json();
  EXPECT_EQ(row["stages_ms"]["forward"], 1.5);
  EXPECT_TRUE(row["stages_ms"]["hidden"].is_null() && row["test_quality"].is_null());
  EXPECT_EQ(row["metric"], "accuracy");
}

TEST(Row, CompressionRatioIsDenseOverPayload) {
  const auto row = Row("x").bytes(100, 32, 150, 4000).json();
  EXPECT_EQ(row["compression_ratio"], 40.0);
  EXPECT_EQ(row["header_bytes"], 32.0);
  EXPECT_EQ(Row("x").bytes(0.5, 0, 0, 4000).json()["compression_ratio"], 8000.0) << "a mean over steps may be below 1";
  EXPECT_TRUE(Row("none").bytes(0, 0, 0, 4000).json()["compression_ratio"].is_null());
}

TEST(Row, NaNBecomesNull) {
  const auto row = Row("x").quality(0.5, std::nan("")).curve({{0}, {0.1}, {8}, {2.3}, {std::nan("")}, {0.9}}).json();
  EXPECT_TRUE(row["test_loss"].is_null());
  EXPECT_TRUE(row["curve"]["accuracy"][0].is_null());
  EXPECT_EQ(row["curve"]["step"][0], 0);
  EXPECT_EQ(row["curve"]["quality"][0], 0.9);
}

TEST(Row, DensityOfMethodsWithoutTargetIsNull) {
  const auto none = Row("x").density({}).json();
  EXPECT_TRUE(none["density_ratio"].is_null());
  EXPECT_FALSE(none.contains("density_ratio_mean"));
  const auto row = Row("x").density({1.0, 2.0, 6.0}).json();
  EXPECT_EQ(row["density_ratio"]["p50"], 2.0);
  EXPECT_NEAR(row["density_ratio"]["p5"].get<double>(), 1.1, 1e-12);
  EXPECT_NEAR(row["density_ratio"]["p95"].get<double>(), 5.6, 1e-12);
  EXPECT_EQ(Row("x").density_columns("_late", {2.0}).json()["density_ratio_late_rms"], 1.0);
  EXPECT_FALSE(Row("x").density_columns("_late", {}).json().contains("density_ratio_late_mean"));
  EXPECT_EQ(row["density_ratio"]["max"], 6.0);
  EXPECT_EQ(row["density_ratio_mean"], 3.0);
  EXPECT_EQ(row["density_ratio_p50"], 2.0);
  EXPECT_NEAR(row["density_ratio_p5"].get<double>(), 1.1, 1e-12);
  EXPECT_NEAR(row["density_ratio_p95"].get<double>(), 5.6, 1e-12);
  EXPECT_EQ(row["density_ratio_max"], 6.0);
  EXPECT_NEAR(row["density_ratio_std"].get<double>(), std::sqrt(14.0 / 3), 1e-12);
  EXPECT_NEAR(row["density_ratio_rms"].get<double>(), std::sqrt(26.0 / 3), 1e-12);
}

TEST(Row, BandwidthsFollowNcclTests) {
  // 1e6 floats in 2 ms: 2 GB/s; four ranks: x 2 * 3 / 4
  const auto row = Row("allreduce").reduction(1000000, 4, {9.0, 1.0, 2.0}, 0).json();
  EXPECT_NEAR(row["alg_bw_gb_s"].get<double>(), 2.0, 1e-12);
  EXPECT_NEAR(row["bus_bw_gb_s"].get<double>(), 3.0, 1e-12);
  EXPECT_EQ(row["dense_bytes"], 4e6);
  EXPECT_EQ(row["elements"], 1000000);
  EXPECT_EQ(row["ranks"], 4);
  EXPECT_EQ(row["wrong"], 0);
  EXPECT_EQ(Row("one").reduction(1000000, 1, {2.0}, 3).json()["bus_bw_gb_s"], 0) << "nothing travels";
  EXPECT_EQ(Row("one").reduction(1000000, 1, {2.0}, 3).json()["wrong"], 3);
  const auto none = Row("none").reduction(1000000, 4, {}, 0).json();
  EXPECT_TRUE(none["alg_bw_gb_s"].is_null() && none["bus_bw_gb_s"].is_null());
}

}  // namespace row_test
}  // namespace gradcomp::report
