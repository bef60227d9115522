// The row of an evaluation, its means and ratios worked out by hand.
#include "gradcomp/evaluate/record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "copies.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::evaluate {
namespace record_test {

constexpr index_t n = 16;

/// `large` entries of +-2, the others `rest`.
Vector<float> gradient(index_t large, float rest) {
  std::vector<float> host(n, rest);
  for (index_t i = 0; i < large; ++i) host[static_cast<std::size_t>(3 * i)] = i % 2 == 0 ? 2.0f : -2.0f;
  return test::to_device(host);
}

double number(const report::Json& row, const char* column) { return row.at(column).get<double>(); }

/// A probe that has seen every gradient once.
MethodEvaluation probe_of(const std::string& spec, const std::vector<Vector<float>>& gradients, index_t trials = 0) {
  MethodEvaluationOptions options;
  options.timings = 3;
  options.trials = trials;
  MethodEvaluation probe(spec, Layout::flat(n), options);
  ReadProbe read(n);
  for (const auto& g : gradients) probe.step(Exec(), g, read);
  return probe;
}

TEST(EvaluationRow, HoldsMeansOverGradientsByHand) {
  // Three entries above 1 of norm 12, thirteen of 0.5 below, 3.25; five above and nothing else; nothing at all.
  const MethodEvaluation probe =
      probe_of("hard_threshold:lambda=1", {gradient(3, 0.5f), gradient(5, 0), gradient(0, 0)});
  const auto row = to_row({"drawn", "open", n, {}}, probe).json();
  EXPECT_EQ(row["name"], "evaluate/drawn/" + probe.spec().label);
  EXPECT_EQ(row["steps"], 3);
  EXPECT_EQ(row["elements"], n);
  EXPECT_EQ(row["dense_bytes"], 64);
  EXPECT_NEAR(number(row, "achieved_density"), (3 + 5 + 0) / 3.0 / 16, 1e-12);
  EXPECT_TRUE(row["target_density"].is_null()) << "a threshold asks for no number of entries";
  // An index and a value, 8 bytes, for each of 8 entries in 3 messages.
  EXPECT_NEAR(number(row, "payload_bytes"), 64 / 3.0, 1e-12);
  EXPECT_NEAR(number(row, "compression_ratio"), 3, 1e-12);
  EXPECT_NEAR(number(row, "payload_bits_per_kept"), 64, 1e-12);
  EXPECT_NEAR(number(row, "payload_bits_per_element"), 8 * 64 / 3.0 / 16, 1e-12);
  EXPECT_EQ(row["header_bytes"], 32);
  // C(16, 3) = 560 and C(16, 5) = 4368 choices, and one of none.
  EXPECT_NEAR(number(row, "entropy_bits_per_kept"), (std::log2(560.0) + std::log2(4368.0)) / 8, 1e-9);
  EXPECT_NEAR(number(row, "relative_l2_error"), std::sqrt(3.25 / 15.25) / 3, 1e-7);
  EXPECT_NEAR(number(row, "cosine"), (12 / std::sqrt(15.25 * 12) + 1) / 2, 1e-7) << "zeros have no direction";
  EXPECT_EQ(row["verified"], true);
  EXPECT_EQ(row["times_ms"].size(), 9U) << "three timings of each";
  EXPECT_DOUBLE_EQ(number(row, "read_limit_ratio"), number(row, "compress_ms") / number(row, "read_limit_ms"));
  EXPECT_EQ(row["compress_ms"], row["time_ms"]["median"]);
  std::vector<double> times = row["times_ms"];
  std::sort(times.begin(), times.end());  // of nine, the quantiles 0.1 and 0.9 are at positions 0.8 and 7.2
  EXPECT_NEAR(number(row, "compress_ms_p10"), 0.2 * times[0] + 0.8 * times[1], 1e-12);
  EXPECT_NEAR(number(row, "compress_ms_p90"), 0.8 * times[7] + 0.2 * times[8], 1e-12);
  EXPECT_LE(number(row, "decompress_ms_p10"), number(row, "decompress_ms"));
  EXPECT_GE(number(row, "decompress_ms_p90"), number(row, "decompress_ms"));
  EXPECT_FALSE(row.contains("trials") || row.contains("points"));
}

TEST(EvaluationRow, ComparesWithWhatWasAskedFor) {
  const MethodEvaluation probe = probe_of("top_k:ratio=0.25:feedback=none", {gradient(4, 0), gradient(4, 0)});
  const auto row = to_row({"drawn", "open", n, {1}}, probe).json();
  EXPECT_EQ(row["target_density"], 0.25);
  EXPECT_EQ(row["achieved_density"], 0.25);
  EXPECT_EQ(row["density_ratio_mean"], 1);
  EXPECT_EQ(row["density_ratio_late_mean"], 1);
  EXPECT_EQ(row["points"], (report::Json{{"step", {1}}, {"density_ratio", {1.0}}, {"relative_l2_error", {0.0}}}));
}

TEST(EvaluationRow, OfDenseMethodsHasNoEntries) {
  const MethodEvaluation probe = probe_of("fp16", {gradient(3, 0.5f)});
  const auto row = to_row({"drawn", "open", n, {}}, probe).json();
  EXPECT_EQ(row["payload_bytes"], 32);
  EXPECT_EQ(row["compression_ratio"], 2);
  EXPECT_EQ(row["payload_bits_per_element"], 16);
  EXPECT_TRUE(row["achieved_density"].is_null() && row["target_density"].is_null());
  EXPECT_FALSE(row.contains("payload_bits_per_kept"));
  EXPECT_FALSE(row.contains("density_ratio_late_mean")) << "one gradient has no later half";
}

TEST(EvaluationRow, TrialsAreTheirMeans) {
  const MethodEvaluation probe = probe_of("qsgd:bits=2", {gradient(3, 0.5f)}, 4);
  const auto& trials = probe.measurements().trials;
  ASSERT_EQ(trials.bias.size(), 4U);
  const auto row = to_row({"drawn", "open", n, {}}, probe).json();
  const auto mean = [](const std::vector<double>& v) { return (v[0] + v[1] + v[2] + v[3]) / 4; };
  EXPECT_EQ(row["trials"], 4);
  EXPECT_NEAR(number(row, "bias"), mean(trials.bias), 1e-15);
  EXPECT_NEAR(number(row, "contraction"), mean(trials.contraction), 1e-15);
  EXPECT_NEAR(number(row, "bias_z"), bias_z(trials), 1e-12);
}

TEST(EvaluationRow, RatiosAreThoseOfTheirSteps) {
  Measurements m;
  m.density_ratio = {{1, 2}, {}, {3}, {4, 5}};
  EXPECT_EQ(ratios(m, 0, 4), (std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_EQ(ratios(m, 1, 3), (std::vector<double>{3}));
  EXPECT_EQ(ratios(m, 2, 4), (std::vector<double>{3, 4, 5}));
}

TEST(EvaluationTable, ShowsADashForWhatIsNotThere) {
  const MethodEvaluation probe = probe_of("fp16:label=half", {gradient(3, 0.5f)});
  const auto row = to_row({"drawn", "open", n, {}}, probe);
  for (const bool wide : {false, true}) {
    auto table = make_table(wide);
    add_line(table, row, wide);
    EXPECT_THAT(table.text(), testing::ContainsRegex("half +32 B +- +0 +[^ ]+ [^ ]+ +[^ ]+" +
                                                     std::string(wide ? " +[^ ]+ [^ ]+ +- +- +- +- +-\n" : "\n")));
  }
}

TEST(EvaluationTable, ShowsTimesWithTheirSpread) {
  report::Row row("x");
  row.method("fp32", "fp32", "fp32").set("payload_bytes", 8.0);
  row.set("compress_ms", 6.6).set("compress_ms_p10", 6.5).set("compress_ms_p90", 36.5);
  auto table = make_table(false);
  add_line(table, row, false);
  EXPECT_THAT(table.text(), testing::HasSubstr("6.60 (6.50-36.5)"));
}

TEST(MethodsJson, TellsWhichMethodsHaveATarget) {
  const auto list = methods_json();
  EXPECT_EQ(list.size(), all_entries().size());
  int seen = 0;
  for (const auto& method : list) {
    for (const auto& [name, target] : {std::pair{"top_k", true}, {"hard_threshold", false}, {"fp32", false}}) {
      if (method["name"] != name) continue;
      EXPECT_EQ(method["has_target"], target) << name;
      ++seen;
    }
    EXPECT_FALSE(method["summary"].get<std::string>().empty());
    for (const auto& p : method["parameters"]) EXPECT_FALSE(p["allowed"].get<std::string>().empty()) << p.dump();
  }
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(list[0]["name"], all_entries()[0].info.name);
  EXPECT_EQ(list[0]["family"], to_string(all_entries()[0].info.family));
  EXPECT_EQ(list[0]["summary"], all_entries()[0].info.summary);
  EXPECT_EQ(list[0]["feedback"], all_entries()[0].info.feedback);
  for (const auto& p : list[0]["parameters"]) {
    for (const char* key : {"name", "default", "choices", "help"}) EXPECT_TRUE(p.contains(key)) << key;
  }
}

}  // namespace record_test
}  // namespace gradcomp::evaluate
