#include "gradcomp/tune/rates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "error_of.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradcomp/tune/bucket_sweep.hpp"
#include "gradcomp/tune/tuning.hpp"

namespace gradcomp::tune {
namespace rates_test {

using train::Metric;

const report::Json settings{{"model", "resnet20"}, {"clip", 2}};
constexpr TrialShape shape{10, 2, 2, 3};

Rates example() {
  Rates rates(Metric(), settings, shape);
  rates.add("a", {0.1, 0.5, 1.0, 2});
  rates.add("a", {0.2, 0.5, 0.9, 2});
  rates.add("a", {0.4, std::nan(""), std::nan(""), 1});
  rates.add("b", {0.1, std::nan(""), std::nan(""), 1});
  rates.add_time({"fp32", 0}, 5.5);
  rates.add_time({"fp32", 1024}, 4.5);
  return rates;
}

TEST(Rates, ChooseTheBestQualityThenTheLowerLoss) {
  const Rates rates = example();
  EXPECT_EQ(rates.best("a")->rate, 0.2);
  EXPECT_EQ(rates.best("b"), nullptr) << "all diverged";
  EXPECT_EQ(rates.best("c"), nullptr);
  Rates perplexity(Metric(InputShape::Kind::tokens), settings, shape);
  perplexity.add("a", {0.1, 60, 1, 1});
  perplexity.add("a", {0.2, 50, 1, 1});
  perplexity.add("a", {0.4, 70, 1, 1});
  EXPECT_EQ(perplexity.best("a")->rate, 0.2);
}

TEST(Rates, SurviveTheFile) {
  const std::string text = example().text();
  const Rates read = Rates::parse(text, "f", Metric(), settings, shape, true);
  EXPECT_EQ(read.text(), text);
  EXPECT_TRUE(std::isnan(read.find("a", 0.4)->quality));
  EXPECT_EQ(read.best_forms(), (DenseForms{{"fp32", {"fp32", 1024}}}));
}

const SweepConditions real{"", "overlapped"}, slow{"100Mbit/s,50us", "overlapped"};

/// The file of a job whose bucket sizes were timed over the real link.
std::string swept_file() {
  Rates rates(Metric(), settings, shape, real);
  rates.add_time({"fp32", 1024}, 4.5);
  return rates.text();
}

TEST(Rates, TuningKeepsBucketTimesOfTheSameLinkAndStrategyOnly) {
  const std::string text = swept_file();
  const auto kept = [&](const std::string& file, const SweepConditions& job) {
    return Rates::parse(file, "f", Metric(), settings, shape, true, job).has_times("fp32");
  };
  EXPECT_TRUE(kept(text, real));
  EXPECT_FALSE(kept(text, slow));
  EXPECT_FALSE(kept(text, {"", "synchronous"}));
  auto old = report::Json::parse(text);
  old.erase("bucket_sweep");
  EXPECT_FALSE(kept(old.dump(), real)) << "a file of an earlier version does not say its conditions";
}

TEST(Rates, ControlsSayIfTheirBucketsWereTimedElsewhere) {
  train::Options options;
  const auto said = [&](const std::string& file) {
    auto contenders = train::contenders(options, parse_methods("fp32,top_k"));
    take_forms(contenders, Rates::parse(file, "f", Metric(), settings, shape, false, sweep_conditions(options)),
               options);
    EXPECT_EQ(contenders[0].bucket_kib, 1024);
    EXPECT_EQ(contenders[1].bucket_sweep, "") << "a method has the buckets of the job";
    return contenders[0].bucket_sweep;
  };
  const std::string text = swept_file();
  EXPECT_EQ(said(text), "");
  options.link = slow.link;
  EXPECT_EQ(said(text), "real link, strategy overlapped");
  options.link.clear();
  options.strategy = "synchronous";
  EXPECT_EQ(said(text), "real link, strategy overlapped");
  auto old = report::Json::parse(text);
  old.erase("bucket_sweep");
  EXPECT_EQ(said(old.dump()), "unknown");
  EXPECT_EQ(slow.text(), "link 100Mbit/s,50us, strategy overlapped");
}

std::string refusal(const std::string& text, const report::Json& wanted, TrialShape wanted_shape, bool to_tune) {
  try {
    Rates::parse(text, "f", Metric(), wanted, wanted_shape, to_tune);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Rates, RefuseFilesOfOtherJobs) {
  const std::string text = example().text();
  EXPECT_EQ(refusal(text, settings, {20, 4, 5, 5}, false), "");
  EXPECT_EQ(refusal(text, settings, {20, 2, 2, 3}, true),
            "--rates f: its trials have 10 steps, but --tune-steps is 20");
  EXPECT_EQ(refusal(text, settings, {10, 2, 9, 3}, true),
            "--rates f: its methods have 2 trials, but --tune-trials is 9");
  EXPECT_EQ(refusal(text, settings, {10, 2, 2, 9}, true), "--rates f: its trials have 3 seeds, but --tune-seeds is 9");
  EXPECT_EQ(refusal(text, settings, {10, 4, 2, 3}, true), "--rates f: its trials have 2 ranks, but this job has 4");
  EXPECT_EQ(refusal(text, {{"model", "vgg11"}, {"clip", 2}}, shape, true),
            "--rates f: tuned for model \"resnet20\", but this job has \"vgg11\"");
  for (const char* bad : {"", "{", "[]", "{}", "{\"format\": \"x\"}", "1"}) {
    EXPECT_THAT(refusal(bad, settings, shape, true), testing::HasSubstr("not a file of learning rates")) << bad;
  }
}

TEST(Rates, MethodsMustHaveTheSameNumberOfTrials) {
  train::Options options;
  auto contenders = train::contenders(options, parse_methods("fp32"));
  Rates rates(Metric(), settings, shape);
  rates.add(contenders[0].spec.canonical, {0.7, 0.5, 1, 3});
  try {
    rates.apply(contenders, "f");
    FAIL() << "one of two trials";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "--rates f: 'fp32' has 1 of 2 trials; gradcomp-tune makes the others");
  }
}

TEST(Rates, ControlsAsTheyAreTakeTheirBestBuckets) {
  train::Options options;
  auto contenders = train::contenders(options, parse_methods("fp32,fp32:lr=1,top_k"));
  Rates rates = example();
  for (const auto& c : contenders) {
    rates.add(c.spec.canonical, {0.7, 0.5, 1, 3});
    rates.add(c.spec.canonical, {0.3, 0.4, 1, 4});
  }
  rates.apply(contenders, "f");
  EXPECT_EQ(contenders[0].learning_rate, 0.7);
  take_forms(contenders, rates, options);
  EXPECT_EQ(contenders[0].bucket_kib, 1024);
  EXPECT_EQ(contenders[1].bucket_kib, std::nullopt) << "it counts as a method";
  EXPECT_EQ(contenders[2].bucket_kib, std::nullopt);
}

TEST(Rates, AControlRunsAsTheRingWhereThisIsFaster) {
  const train::Options options;
  auto contenders = train::contenders(options, parse_methods("fp32,fp16:label=half,no_exchange"));
  Rates rates = example();
  rates.add_time({"fp16", 256}, 3.5);
  rates.add_time({"fp16:reducer=ring", 0}, 2.5);
  rates.add_time({"fp32:reducer=ring", 0}, 4.75);
  take_forms(contenders, Rates::parse(rates.text(), "f", Metric(), settings, shape, false), options);
  EXPECT_EQ(contenders[0].spec.canonical, parse_method("fp32").canonical);
  EXPECT_EQ(contenders[0].bucket_kib, 1024);
  EXPECT_EQ(contenders[1].spec.canonical, parse_method("fp16:reducer=ring").canonical);
  EXPECT_EQ(contenders[1].bucket_kib, 0);
  EXPECT_EQ(contenders[1].spec.label, "half");
  EXPECT_EQ(contenders[1].role, train::Contender::Role::fp16) << "it remains the control";
  EXPECT_EQ(contenders[1].tuned_as(), parse_method("fp32").canonical);
  EXPECT_TRUE(contenders[2].is_bound());
}

TEST(Rates, NoControlTakesABucketSizeThatItsStrategyReplaces) {
  train::Options options;
  const auto taken = [&](const std::string& strategy) {
    options.strategy = strategy;
    auto contenders = train::contenders(options, parse_methods("fp32"));
    take_forms(contenders, example(), options);
    return contenders[0].bucket_kib.has_value();
  };
  for (const char* strategy : {"overlapped", "synchronous", "priority", "accumulate", "local", "priority:credit=4"}) {
    EXPECT_TRUE(taken(strategy)) << strategy;
  }
  for (const char* strategy :
       {"servers", "overlapped:bucket_kib=64", "priority:bucket_kib=64", "local:bucket_kib=64"}) {
    EXPECT_FALSE(taken(strategy)) << strategy;
  }
}

TEST(BucketSweep, IsRefusedIfTheStrategyTakesNoSize) {
  train::Options options;
  const auto refused = [&](const std::string& strategy) {
    options.strategy = strategy;
    return gradcomp::test::error_of([&] { check_bucket_sweep(options); });
  };
  EXPECT_EQ(refused("servers"),
            "bucket sizes cannot be timed with --strategy servers: this strategy sets its own buckets, or has none; "
            "allowed: --no-controls, or a strategy with bucket_kib=0");
  EXPECT_NE(refused("priority:bucket_kib=64"), "");
  EXPECT_EQ(refused("priority"), "");
  options.controls = false;
  EXPECT_EQ(refused("servers"), "") << "there is no sweep";
}

TEST(BucketSweep, TriesTheSizesThatFollowFromTheModelAndFourOthers) {
  EXPECT_THAT(swept_kib, testing::ElementsAre(0, 256, 1024, 4096, 16384));
}

TEST(NextRate, ExtendsTheGridAtItsEdgesAndRefinesIt) {
  Rates rates(Metric(), settings, shape);
  const auto next = [&] { return next_rate(rates, "a", 0.4); };
  const auto add = [&](double rate, double quality) { rates.add("a", {rate, quality, 1, 1}); };
  EXPECT_EQ(next(), 0.4);
  add(0.4, 0.5);
  EXPECT_EQ(next(), 0.2);
  add(0.2, 0.4);
  EXPECT_EQ(next(), 0.8);
  add(0.8, 0.6);
  EXPECT_EQ(next(), 1.6) << "the highest is the best";
  EXPECT_TRUE(rates.at_edge("a"));
  add(1.6, std::nan(""));
  EXPECT_FALSE(rates.at_edge("a")) << "beyond it diverges";
  EXPECT_DOUBLE_EQ(next(), std::sqrt(0.8 * 1.6));
  add(std::sqrt(0.8 * 1.6), 0.1);
  EXPECT_DOUBLE_EQ(next(), std::sqrt(0.4 * 0.8)) << "the neighbour that is further away comes first";
}

TEST(NextRate, GoesDownWhereTheLowestIsBestOrAllDiverged) {
  Rates rates(Metric(), settings, shape);
  for (const double rate : {1.0, 0.5, 2.0}) rates.add("a", {rate, 1 / rate, 1, 1});
  EXPECT_EQ(next_rate(rates, "a", 1), 0.25);
  for (const double rate : {1.0, 0.5, 2.0}) rates.add("b", {rate, std::nan(""), std::nan(""), 1});
  EXPECT_EQ(next_rate(rates, "b", 1), 0.125);
  EXPECT_TRUE(rates.at_edge("b"));
}

TEST(Rates, RefuseARateThatIsNone) {
  for (const char* rate : {"0", "-0.1", "1e999"}) {
    std::string text = example().text();
    text.replace(text.find("\"lr\": 0.1"), 9, std::string("\"lr\": ") + rate);
    EXPECT_THAT(refusal(text, settings, shape, true), testing::HasSubstr("not a file of learning rates")) << rate;
  }
}

TEST(Rates, RefuseWhatATuningDoesNotWrite) {
  const auto with = [](const std::function<void(report::Json&)>& change) {
    report::Json file = report::Json::parse(example().text());
    change(file);
    return refusal(file.dump(), settings, shape, true);
  };
  EXPECT_EQ(with([](report::Json&) {}), "");
  EXPECT_THAT(with([](report::Json& file) { file["trial_steps"] = 10.5; }), testing::HasSubstr("trial_steps: 10.5"));
  EXPECT_THAT(with([](report::Json& file) { file["trial_ranks"] = 4294967298; }),
              testing::HasSubstr("trial_ranks: 4294967298 is not allowed"));
  EXPECT_THAT(with([](report::Json& file) { file["methods"].begin().value()["lr"] = 123.0; }),
              testing::HasSubstr("has lr 123.0, but its best trial has"));
  EXPECT_THAT(with([](report::Json& file) { file["methods"].begin().value()["trials"][0]["seconds"] = "x"; }),
              testing::HasSubstr("allowed: numbers from 0"));
  for (const char* kib : {"12abc", "-5", "99999999999999999999", ""}) {
    EXPECT_THAT(with([&](report::Json& file) { file["bucket_step_ms"] = {{"fp32", {{kib, 1.0}}}}; }),
                testing::HasSubstr(fmt::format("the bucket size '{}' is not allowed", kib)));
  }
  EXPECT_THAT(with([&](report::Json& file) { file["bucket_step_ms"] = {{"top_k", {{"0", 1.0}}}}; }),
              testing::HasSubstr("'top_k' is no dense control; allowed: fp32, fp32:reducer=ring, fp16"));
  EXPECT_THAT(refusal(std::string(100000, '['), settings, shape, true), testing::HasSubstr("more than 100 levels"));
}

TEST(Rates, OfBucketSizesAloneLeaveTheLearningRates) {
  const train::Options options;
  auto contenders = train::contenders(options, parse_methods("fp32,top_k:lr=0.3"));
  const Rates rates = Rates::parse(swept_file(), "f", Metric(), settings, {}, false);
  rates.apply(contenders, "f");
  take_forms(contenders, rates, options);
  EXPECT_EQ(contenders[0].learning_rate, options.learning_rate);
  EXPECT_EQ(contenders[0].bucket_kib, 1024);
  EXPECT_EQ(contenders[1].learning_rate, 0.3);
  EXPECT_EQ(contenders[1].tuning, std::nullopt);
  EXPECT_THROW(Rates(Metric(), settings, shape).apply(contenders, "f"), Error) << "a file that holds nothing";
}

TEST(Rates, OneIsForAllDenseControlsAndTheBound) {
  train::Options options;
  auto contenders = train::contenders(options, parse_methods("no_exchange,fp32,fp16,bf16,top_k"));
  Rates rates(Metric(), settings, shape);
  rates.add(contenders[1].spec.canonical, {0.7, 0.5, 1, 3});
  rates.add(contenders[1].spec.canonical, {0.3, 0.4, 1, 4});
  EXPECT_THROW(rates.apply(contenders, "f"), Error) << "the file has no trials of top_k";
  contenders.pop_back();
  rates.apply(contenders, "f");
  for (const auto& c : contenders) EXPECT_EQ(c.learning_rate, 0.7) << c.spec.label << " has the rate of fp32";
  EXPECT_EQ(contenders[1].tuning->steps, 60) << "two rates, three seeds, ten steps";
  EXPECT_EQ(contenders[1].tuning->seconds, 7);
}

}  // namespace rates_test
}  // namespace gradcomp::tune
