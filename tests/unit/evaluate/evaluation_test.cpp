// A whole evaluation: which jobs the options make, what is called, written and found.
#include "gradcomp/evaluate/evaluation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "error_of.hpp"
#include "gradcomp/data/formats/npy.hpp"
#include "gradcomp/data/generated/synthetic.hpp"
#include "unit/data/temp_dir.hpp"

namespace gradcomp::evaluate {
namespace evaluation_test {

using gradcomp::test::TempDir;
using test::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

/// Two draws of 1000 elements for two methods.
Options example() {
  Options options;
  options.methods = "fp32,top_k:ratio=0.1";
  options.data = {"laplace"};
  options.size = 1000;
  options.repeats = 2;
  options.timings = 1;
  return options;
}

struct Evaluated {
  Findings findings;
  report::Json rows;
  std::vector<std::string> calls;  ///< of progress
};

Evaluated run(const Options& options) {
  report::ResultFile file("", report::Json::object());
  std::vector<std::string> calls;
  Findings findings =
      evaluate(Exec(), options, make_jobs(options), file, [&](const std::string& name, index_t done, index_t all) {
        calls.push_back(fmt::format("{} {}/{}", name, done, all));
      });
  return {std::move(findings), file.document().at("benchmarks"), calls};
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  return names;
}

TEST(Evaluation, GivesEachGradientToAllMethodsInTurn) {
  Options options = example();
  options.data = {"laplace", "gauss"};
  const Evaluated all = run(options);
  EXPECT_THAT(all.calls, ElementsAre("laplace 1/4", "laplace 2/4", "laplace 3/4", "laplace 4/4", "gauss 1/4",
                                     "gauss 2/4", "gauss 3/4", "gauss 4/4"));
  ASSERT_EQ(all.rows.size(), 4U);
  EXPECT_EQ(all.rows[1]["stream"], "laplace");
  EXPECT_EQ(all.rows[1]["label"], "top_k:ratio=0.1");
  EXPECT_EQ(all.rows[2]["stream"], "gauss");
  EXPECT_EQ(all.rows[2]["loop"], "open");
  EXPECT_EQ(all.rows[2]["steps"], 2);
  EXPECT_EQ(all.rows[2]["elements"], 1000);
  EXPECT_TRUE(all.findings.wrong.empty() && all.findings.failures.empty());
  EXPECT_THAT(all.findings.tables.at(0).text(), ::testing::ContainsRegex("top_k:ratio=0.1 .* +1.00 "));
}

TEST(Evaluation, LoopsFollowFromTheOptions) {
  const TempDir dir;
  data::write_npy(dir.path() + "/a.npy", std::vector<float>{1, 2, 3});
  data::write_npy(dir.path() + "/b.npy", std::vector<float>{4, 5, 6});
  const auto described = [](const Options& options) {
    std::vector<std::string> jobs;
    for (const Job& job : make_jobs(options))
      jobs.push_back(job.stream->name() + " " + std::to_string(job.steps) + " " + job.loop);
    return jobs;
  };
  Options options = example();
  options.input = {dir.path() + "/a.npy", dir.path() + "/b.npy"};
  options.repeats = 3;
  EXPECT_THAT(described(options), ElementsAre("a 1 open", "b 1 open", "laplace 3 open"));
  options.residual_steps = 5;
  EXPECT_THAT(described(options), ElementsAre("a+b 5 closed", "laplace 5 closed"));
  options.input.clear();
  options.data.clear();
  options.training.model = "resnet8";
  options.training.dataset = "shapetex10:train=32:test=16";
  options.training.steps = 4;
  options.training.batch = 4;
  EXPECT_THAT(described(options), ElementsAre("resnet8 4 training"));
  options = example();
  options.data = {"laplace", "laplace"};
  EXPECT_EQ(error_of([&] { make_jobs(options); }),
            "two gradients have the name 'laplace', so their records could not be told apart; rename one of the files");
}

TEST(Evaluation, DumpsTheLastStepOrTheStepsThatWereAskedFor) {
  const TempDir dir;
  Options options = example();
  options.dump_folder = dir.path() + "/new/folder";
  options.repeats = 1;
  run(options);
  EXPECT_THAT(files_in(options.dump_folder),
              UnorderedElementsAre("laplace_fp32.bin", "laplace_fp32_decoded.npy", "laplace_top_k_ratio=0.1.bin",
                                   "laplace_top_k_ratio=0.1_decoded.npy"));
  options.dump_folder = dir.path() + "/last";
  options.repeats = 2;
  options.methods = "fp32";
  run(options);
  EXPECT_THAT(files_in(options.dump_folder),
              UnorderedElementsAre("laplace_fp32_step1.bin", "laplace_fp32_step1_decoded.npy"));
  std::vector<float> second(1000);
  data::fill(data::Distribution::parse("laplace"), options.seed, 1, second);
  EXPECT_EQ(data::read_npy(options.dump_folder + "/laplace_fp32_step1_decoded.npy").values, second);
  options.data.clear();
  options.dump_folder = dir.path() + "/training";
  options.training.model = "resnet8";
  options.training.dataset = "shapetex10:train=32:test=16";
  options.training.steps = 4;
  options.training.batch = 4;
  options.at = {0, 2};
  const Evaluated trained = run(options);
  EXPECT_THAT(files_in(options.dump_folder),
              UnorderedElementsAre("resnet8_fp32_step0.bin", "resnet8_fp32_step0_decoded.npy", "resnet8_fp32_step2.bin",
                                   "resnet8_fp32_step2_decoded.npy"));
  EXPECT_EQ(trained.rows[0]["points"]["step"], (report::Json{0, 2}));
  options.at.clear();
  options.dump_folder = dir.path() + "/end";
  run(options);
  EXPECT_THAT(files_in(options.dump_folder),
              UnorderedElementsAre("resnet8_fp32_step3.bin", "resnet8_fp32_step3_decoded.npy"));
  options.methods = "fp32:label=a b,qsgd:label=a_b";
  EXPECT_EQ(
      error_of([&] { make_jobs(options); }),
      "--dump: method 'a b' on 'resnet8' and method 'a_b' on 'resnet8' would write the same files; give one another "
      "label=...");
  options.methods = "fp32";
  options.dump_folder = "/dev/null";
  EXPECT_THAT(error_of([&] { make_jobs(options); }), HasSubstr("/dev/null"));
}

TEST(Evaluation, AMethodThatCannotTakeAGradientCostsNoOtherRow) {
  const TempDir dir;
  data::write_npy(dir.path() + "/large.npy", std::vector<float>(1024, 3e38f));
  Options options = example();
  options.input = {dir.path() + "/large.npy"};
  options.methods = "atomo,fp32";
  const Evaluated all = run(options);
  EXPECT_THAT(all.findings.failures,
              ElementsAre("method 'atomo' on 'large': atomo: step 0: the gradient, or what the method makes of it, is "
                          "not finite; docs/methods.md has the range of each method"));
  ASSERT_EQ(all.rows.size(), 3U);  // fp32 on the file, and both on the draws
  EXPECT_EQ(all.rows[0]["label"], "fp32");
  EXPECT_EQ(all.rows[0]["stream"], "large");
}

TEST(Evaluation, SaysWhichDensityIsOutsideItsTolerance) {
  Options options = example();
  options.methods = "top_k:ratio=0.1,sidco:ratio=0.01:stages=1";
  options.size = 100000;
  options.density_tolerance = 1e-6;
  const Evaluated all = run(options);
  ASSERT_EQ(all.findings.failures.size(), 1U);
  EXPECT_THAT(all.findings.failures[0], HasSubstr("method 'sidco:ratio=0.01:stages=1' on 'laplace'"));
  options.density_tolerance = 0;
  EXPECT_TRUE(run(options).findings.failures.empty());
}

}  // namespace evaluation_test
}  // namespace gradcomp::evaluate
