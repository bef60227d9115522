// Training with batches that are drawn by importance.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "gradcomp/data/open_task.hpp"
#include "gradcomp/report/json.hpp"
#include "gradcomp/train/importance_pass.hpp"
#include "gradcomp/train/replay.hpp"
#include "training/rig.hpp"

namespace gradcomp::train::test {
namespace sampling_test {

using testing::HasSubstr;

std::uint64_t hash_of(Rig& rig, const std::string& method) { return rig.run(method)[0].parameters_hash; }

TEST(Sampling, LearnsAndAgreesOnAllRanks) {
  Rig rig;
  rig.options.steps = 40;
  rig.options.evaluate_every = 20;
  // If the clock says how many slices there are, so does the quality that few steps reach.
  const std::vector<std::pair<std::string, bool>> samplers = {{"importance:sampler.every=4", false},
                                                              {"mercury:sampler.slices=3", false},
                                                              {"mercury", true},
                                                              {"mercury:sampler.variant=paper", true}};
  for (const auto& [sampler, by_clock] : samplers) {
    const auto results = rig.run("fp32:sampler=" + sampler + ",top_k:ratio=0.1:sampler=" + sampler);
    for (const auto& r : results) {
      EXPECT_TRUE(r.replicas_equal) << r.contender.spec.label;
      if (!by_clock) {
        EXPECT_GT(r.validation_quality, 0.6) << r.contender.spec.label;
      }
      ASSERT_TRUE(r.sampling.has_value());
      ASSERT_EQ(r.sampling->slices.size(), static_cast<std::size_t>(rig.control->size()));
      for (const auto& rank : r.sampling->slices) EXPECT_EQ(rank.size(), 40U);
      EXPECT_TRUE(r.stage_ms.contains("importance"));
    }
  }
  const auto plain = rig.run("fp32")[0];
  EXPECT_FALSE(plain.sampling.has_value());
  EXPECT_FALSE(plain.stage_ms.contains("importance"));
}

/// Slices that run beside an exchange, after it, or after an exchange that cannot be overlapped are the same.
TEST(Sampling, WithFixedSlicesEqualsItsSequentialForm) {
  Rig rig;
  const std::string method = "fp32:sampler=mercury:sampler.slices=3:sampler.slice=3";
  const auto overlapped = hash_of(rig, method);
  EXPECT_EQ(hash_of(rig, method + ":strategy=synchronous"), overlapped);
  EXPECT_EQ(hash_of(rig, method), overlapped);
  EXPECT_NE(hash_of(rig, "fp32:sampler=mercury:sampler.slices=2:sampler.slice=3"), overlapped);
  EXPECT_NE(hash_of(rig, "fp32"), overlapped);
}

/// Losses are those of current parameters, also if the strategy updates a layer just before its use.
TEST(Sampling, SeesCurrentParametersWithPriority) {
  Rig rig;
  rig.options.clip = 0;
  for (const std::string sampler : {"mercury:sampler.slices=3:sampler.slice=3", "importance:sampler.every=2"}) {
    const std::string method = "fp32:sampler=" + sampler;
    const auto overlapped = hash_of(rig, method);
    for (int run = 0; run < 3; ++run) {
      EXPECT_EQ(hash_of(rig, method + ":strategy=priority:strategy.bucket_kib=4"), overlapped) << sampler;
    }
  }
}

TEST(Sampling, OfAdaptiveSlicesIsReplayedBitForBit) {
  Rig rig;
  rig.options.steps = 12;
  const std::string method = "fp32:sampler=mercury:sampler.slice=2:sampler.max_slices=5";
  const auto first = rig.run(method)[0];
  const Folder folder(*rig.control);
  const std::string path = folder.path() + ".json";
  if (rig.control->rank() == 0) {
    const report::Json row{
        {"label", first.contender.spec.label}, {"seed", rig.options.seed}, {"slices", first.sampling->slices}};
    std::ofstream(path) << report::Json{{"benchmarks", report::Json::array({row})}};
  }
  barrier(*rig.control);
  rig.options.replay_slices = path;
  const auto again = rig.run(method)[0];
  EXPECT_EQ(again.sampling->slices, first.sampling->slices);
  EXPECT_EQ(again.parameters_hash, first.parameters_hash);
  rig.options.seed = 99;
  try {
    rig.run(method);
    FAIL() << "slices of another seed were taken";
  } catch (const AgreedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no slices of"));
  }
  barrier(*rig.control);
  if (rig.control->rank() == 0) std::filesystem::remove(path);
}

TEST(Sampling, MovesSamplesBetweenStepsAndCountsTheirBytes) {
  Rig rig;
  rig.options.steps = 20;
  rig.options.skew = 0.1;
  const std::string method = "fp32:sampler=importance:sampler.every=2:sampler.reshard=5:sampler.reshard_tolerance=0";
  const auto moved = rig.run(method)[0];
  const auto still = rig.run("fp32:sampler=importance:sampler.every=2")[0];
  EXPECT_TRUE(moved.replicas_equal);
  if (rig.control->size() == 1) {
    EXPECT_EQ(moved.sampling->moved, 0);
    return;
  }
  EXPECT_GT(moved.sampling->moved, 0);
  EXPECT_EQ(moved.sampling->moved_bytes, static_cast<double>(moved.sampling->moved * (8 * 8 * 3 + 2)));
  EXPECT_GT(moved.wire_bytes, still.wire_bytes);
  EXPECT_EQ(still.sampling->moved, 0);
}

TEST(Sampling, TakesTextsAndFrames) {
  Rig rig;
  rig.options.clip = 0.5;
  rig.options.momentum = 0;
  rig.task = data::open_task("hmm:tokens=2000:test=300:vocabulary=40:states=4", 8);
  for (const char* const model : {"lstm_1x96", "transformer_2x128"}) {
    rig.model = nn::make_model<float>(model, rig.task->shape(), 4);
    rig.options.model = model;
    const auto r = rig.run("fp32:sampler=mercury")[0];
    EXPECT_TRUE(r.replicas_equal) << model;
    EXPECT_TRUE(std::isfinite(r.validation_loss)) << model;
  }
  rig.task = data::open_task("keywords:train=60:validation=20:test=20");
  rig.options.model = "frames_lstm_1x64";
  rig.model = nn::make_model<float>(rig.options.model, rig.task->shape(), 4);
  EXPECT_TRUE(rig.run("fp32:sampler=importance")[0].replicas_equal);
}

TEST(ImportancePass, JudgesEachSampleAloneAndLeavesTheStateAlone) {
  Rig rig;
  rig.options.model = "resnet20";
  const Exec exec;
  const auto n = static_cast<std::size_t>(rig.model->layout().count());
  const Vector<float> parameters("parameters", n),
      buffers("buffers", static_cast<std::size_t>(rig.model->buffer_count()));
  const auto host = Kokkos::create_mirror_view(parameters);
  const auto host_buffers = Kokkos::create_mirror_view(buffers);
  rig.model->initialise(1, host, host_buffers);
  Kokkos::deep_copy(parameters, host);
  Kokkos::deep_copy(buffers, host_buffers);
  const auto hash = content_hash(buffers);
  ImportancePass pass(rig.job(), 4);
  pass.keep(exec, parameters, buffers);
  const std::vector<index_t> samples{3, 11, 0, 3};
  std::vector<float> together(4), alone(1);
  pass.evaluate(exec, samples, together);
  EXPECT_EQ(together[0], together[3]);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    pass.evaluate(exec, std::span(samples).subspan(i, 1), alone);
    EXPECT_NEAR(alone[0], together[i], 1e-4F * (1 + together[i]));
  }
  EXPECT_EQ(content_hash(buffers), hash);
  Kokkos::deep_copy(parameters, 0.0F);  // changes nothing, because the pass has its own copy
  std::vector<float> later(4);
  pass.evaluate(exec, samples, later);
  EXPECT_EQ(later, together);
}

TEST(RecordedSlices, RefuseOtherFiles) {
  const auto error = [](const std::string& path) {
    try {
      recorded_slices(path, "fp32", 1, 0, 2);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(error("/nowhere.json"), HasSubstr("cannot read"));
  const std::string path = std::filesystem::temp_directory_path() / fmt::format("gradcomp_slices_{}.json", ::getpid());
  std::ofstream(path) << "[]";
  EXPECT_THAT(error(path), HasSubstr("is no result file"));
  std::ofstream(path) << R"({"benchmarks": [{"label": "fp32", "seed": 1, "slices": [[1, 2]]}]})";
  EXPECT_THAT(error(path), HasSubstr("was made with 1 ranks, but this job has 2"));
  EXPECT_EQ(recorded_slices(path, "fp32", 1, 0, 1), (std::vector<index_t>{1, 2}));
  std::filesystem::remove(path);
}

}  // namespace sampling_test
}  // namespace gradcomp::train::test
