// Two links, two seeds, four contenders: the figures of each link, computed by hand.
#include "gradcomp/train/link_sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gradcomp/method/spec.hpp"

namespace gradcomp::train {
namespace {

/// Four steps, of which every second one uses the second link.
MethodResult result(const char* spec, const std::vector<double>& step_ms) {
  MethodResult r;
  r.contender = contenders(Options(), parse_methods(spec)).front();
  r.step_ms = step_ms;
  r.step_link = {0, 1, 0, 1};
  r.test_quality = 0.9;
  return r;
}

/// Over 100 Mbit/s, fp16 is the best dense control, with 8 ms on average. Over 400 Mbit/s, it is bf16, with 5 ms.
Repeat repeat(std::uint64_t seed, const std::vector<double>& top_k) {
  return {seed,
          {result("fp32", {12, 10, 12, 10}), result("fp16", {7, 6, 9, 6}), result("bf16", {9, 5, 9, 5}),
           result("top_k", top_k)}};
}

const std::vector<Link> links{{100e6, 1e-5}, {400e6, 1e-5}};
const Rules rules{Metric(), 0.05, {0.1, 2, 1000}, false, true};

TEST(LinkSweep, EveryLinkHasAnAnswerOfItsOwn) {
  // 4 ms over the slow link and 10 ms over the fast one are 2x and 1/2 of the best dense control. They cross halfway,
  // at 200 Mbit/s.
  const std::vector<Repeat> one{repeat(1, {3, 10, 5, 10})};
  const LinkSweep all = sweep(one, links, rules);
  report::Row row("x");
  add_links(row, all, one, 3, 0);
  const auto& slow = row.json()["over_links"][0];
  const auto& fast = row.json()["over_links"][1];
  EXPECT_EQ(slow["rate_mbit_s"], 100);
  EXPECT_EQ(fast["rate_mbit_s"], 400);
  EXPECT_EQ(slow["step_time_ms"]["mean"], 4);
  EXPECT_EQ(fast["step_time_ms"]["mean"], 10);
  EXPECT_EQ(slow["speedup_vs_fp32"], 3);
  EXPECT_EQ(fast["speedup_vs_fp32"], 1);
  EXPECT_EQ(slow["speedup_vs_best_dense"], 2);
  EXPECT_EQ(fast["speedup_vs_best_dense"], 0.5);
  const auto& pays = row.json()["pays"];
  EXPECT_EQ(pays["where"], "below");
  EXPECT_NEAR(pays["rate_mbit_s"].get<double>(), 200, 1e-9);
  EXPECT_TRUE(pays["low"].is_null() && pays["high"].is_null()) << "one seed has no interval";
  EXPECT_EQ(all.crossover(one, 1).kind, Crossover::Kind::unknown) << "there is no answer for a control";
  report::Row control("y");
  add_links(control, all, one, 1, 0);
  EXPECT_TRUE(control.json().at("pays").is_null());
}

TEST(LinkSweep, OverSeedsHasMeansAndIntervals) {
  const std::vector<Repeat> two{repeat(1, {4, 10, 4, 10}), repeat(2, {2, 10, 2, 10})};
  const LinkSweep all = sweep(two, links, rules);
  report::Row row("x"), seed("y");
  add_links_over_seeds(row, all, two, 3);
  const auto& slow = row.json()["over_links_over_seeds"][0];
  // 4 and 2 ms are 2x and 4x. Half of the width is t(1, 0.975) = 12.7062 (scipy.stats.t.ppf) times half of the
  // difference.
  EXPECT_NEAR(slow["step_time_ms"]["mean"].get<double>(), 3, 1e-12);
  EXPECT_NEAR(slow["step_time_ms"]["high"].get<double>(), 3 + 12.7062, 1e-4);
  EXPECT_NEAR(slow["speedup_vs_best_dense"]["mean"].get<double>(), 3, 1e-12);
  EXPECT_NEAR(slow["speedup_vs_best_dense"]["low"].get<double>(), 3 - 12.7062, 1e-4);
  EXPECT_NEAR(slow["speedup_vs_fp32"]["mean"].get<double>(), (3.0 + 6.0) / 2, 1e-12);
  EXPECT_EQ(row.json()["over_links_over_seeds"][1]["rate_mbit_s"], 400);
  EXPECT_EQ(row.json()["pays"]["where"], "below");
  add_links(seed, all, two, 3, 1);
  EXPECT_EQ(seed.json()["over_links"][0]["step_time_ms"]["mean"], 2);
  EXPECT_EQ(seed.json()["over_links"][0]["speedup_vs_best_dense"], 4);
  EXPECT_FALSE(seed.json().contains("pays")) << "the answer is that of all seeds";
}

TEST(LinkSweep, AnIntervalThatEndsBeyondTheRatesSweptHasNoHighEnd) {
  // At 400 Mbit/s the speed-ups are 5/10 and 5/4: the mean is 0.875, and the interval reaches from below 0 to above 1.
  const std::vector<Repeat> two{repeat(1, {4, 10, 4, 10}), repeat(2, {4, 4, 4, 4})};
  report::Row row("x");
  add_links_over_seeds(row, sweep(two, links, rules), two, 3);
  const auto& pays = row.json()["pays"];
  EXPECT_EQ(pays["where"], "below");
  EXPECT_NEAR(pays["low"].get<double>(), 100, 1e-9);
  EXPECT_TRUE(pays["high"].is_null());
}

TEST(LinkSweep, SaysEverywhereOrNowhere) {
  for (const auto& [ms, where] : {std::pair{1.0, "everywhere"}, {30.0, "nowhere"}}) {
    const std::vector<Repeat> one{repeat(1, {ms, ms, ms, ms})};
    report::Row row("x");
    add_links(row, sweep(one, links, rules), one, 3, 0);
    EXPECT_EQ(row.json()["pays"]["where"], where);
    EXPECT_TRUE(row.json()["pays"]["rate_mbit_s"].is_null());
    EXPECT_TRUE(row.json()["pays"]["low"].is_null() && row.json()["pays"]["high"].is_null()) << "of one seed";
  }
}

TEST(LinkSweep, TheTableShowsEveryLinkAndWhereItPays) {
  const std::vector<Repeat> one{repeat(1, {3, 10, 5, 10})};
  const std::string text = to_table(sweep(one, links, rules), one).text();
  EXPECT_THAT(text, testing::ContainsRegex("100Mbit/s .*400Mbit/s"));
  EXPECT_THAT(text, testing::ContainsRegex("top_k +4.000 +2.000 +10.00 +0.5000 +pays below 200 Mbit/s\n"));
  EXPECT_THAT(text, testing::ContainsRegex("fp16 +8.000 +1.000 +6.000 +0.8333 +-\n"));
}

}  // namespace
}  // namespace gradcomp::train
