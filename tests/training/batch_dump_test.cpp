// What --dump-batches writes: the weights and batches that a training has, and what it refuses.
#include "gradcomp/train/batch_dump.hpp"

#include "error_of.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/data/formats/npy.hpp"
#include "gradcomp/report/read_json.hpp"
#include "training/rig.hpp"

namespace gradcomp::train::test {
namespace batch_dump_test {

using gradcomp::test::error_of;

TEST(BatchDump, HoldsTheInitialWeightsAndAllBatchesOfThisRank) {
  Rig rig;
  const Folder folder(*rig.control);
  rig.options.batch_folder = folder.path();
  rig.options.warmup = 2;
  rig.options.decay = "constant";
  const auto plain = parse_methods("fp32,top_k");
  check_batch_dump(rig.options, plain, rig.control->rank());
  const auto results = rig.run("fp32,top_k");
  const std::string own = fmt::format("{}/rank{}", folder.path(), rig.control->rank());

  const auto count = static_cast<std::size_t>(rig.model->layout().count());
  std::vector<float> parameters(count), buffers(static_cast<std::size_t>(rig.model->buffer_count()));
  rig.model->initialise(rig.options.seed, HostSpan<float>(parameters.data(), count),
                        HostSpan<float>(buffers.data(), buffers.size()));
  EXPECT_EQ(data::read_npy(own + "/parameters.npy").values, parameters);

  std::vector<float> features, labels;
  const auto fill = rig.task->training(rig.job().shard());
  for (index_t step = 0; step < rig.options.steps; ++step) {
    data::Batch batch;
    batch.step = step;
    fill(batch);
    features.insert(features.end(), batch.features.begin(), batch.features.end());
    for (const auto label : batch.labels) labels.push_back(static_cast<float>(label));
  }
  EXPECT_EQ(data::read_npy(own + "/features.npy").values, features);
  EXPECT_EQ(data::read_npy(own + "/labels.npy").values, labels);
  EXPECT_TRUE(data::read_npy(own + "/tokens.npy").values.empty());

  const report::Json json = report::parse_json(data::read_text(own + "/model.json"), "model.json");
  EXPECT_EQ(json["model"], "resnet20");
  EXPECT_EQ(json["method"], "fp32");
  EXPECT_EQ(json["steps"], 8);
  EXPECT_EQ(json["samples"], 4);
  EXPECT_EQ(json["height"], 8);
  EXPECT_EQ(json["ranks"], rig.control->size());
  EXPECT_EQ(json["momentum"], 0.9);
  EXPECT_EQ(json["weight_decay"], 5e-4);
  EXPECT_EQ(json["tensors"].size(), rig.model->layout().segments.size());
  EXPECT_EQ(json["tensors"][1]["name"], rig.model->layout().segments[1].name);
  EXPECT_EQ(json["rates"], report::Json({0.025, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05}));
  ASSERT_EQ(json["losses"].size(), 8U);
  if (rig.control->size() == 1) {
    double mean = 0;
    for (std::size_t step = 0; step < 4; ++step) mean += 0.25 * json["losses"][step].get<double>();
    EXPECT_NEAR(mean, results[0].curve.loss[0], 1e-6) << "the curve has the mean of each four steps";
  }
  rig.options.batch_folder.clear();
  EXPECT_EQ(rig.run("fp32")[0].parameters_hash, results[0].parameters_hash) << "dumping changes nothing";
}

TEST(BatchDump, RefusesWhatItCannotWrite) {
  Options options = small_options();
  options.batch_folder = "/dev/null/x";
  EXPECT_NE(error_of([&] { check_batch_dump(options, parse_methods("fp32"), 0); }).find("/dev/null/x/rank0"),
            std::string::npos);
  EXPECT_EQ(
      error_of([&] { check_batch_dump(options, parse_methods("fp32:sampler=importance"), 0); }),
      "method 'fp32:sampler=importance': --dump-batches is not allowed with sampler importance; allowed: uniform");
  options.batch_folder.clear();
  EXPECT_EQ(error_of([&] { check_batch_dump(options, parse_methods("fp32:sampler=importance"), 0); }), "");
}

TEST(BatchDump, NeedsRanksThatAllTrain) {
  Rig rig;
  if (rig.control->size() == 1) GTEST_SKIP() << "needs a rank that only serves";
  rig.options.batch_folder = "unused";
  EXPECT_EQ(
      error_of([&] { rig.run("fp32:strategy=servers:strategy.servers=1:strategy.dedicated=on"); }),
      "method 'fp32:strategy=servers:strategy.servers=1:strategy.dedicated=on': with --dump-batches every rank must "
      "train; allowed: strategy.dedicated=off");
}

}  // namespace batch_dump_test
}  // namespace gradcomp::train::test
