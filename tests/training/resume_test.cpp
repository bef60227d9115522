// A resumed run is bit-identical to an uninterrupted one.
#include <algorithm>
#include <cstring>
#include <fstream>

#include "error_of.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/data/open_task.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradcomp/nn/make_model.hpp"
#include "gradcomp/train/options_json.hpp"
#include "training/spoilt.hpp"

namespace gradcomp::train::test {
namespace resume_test {

namespace fs = std::filesystem;
using gradcomp::test::error_of;

/// Methods with all kinds of memories, feedback and reducers. The job adds fp32:accumulate=2.
const char* const methods =
    "fp32,top_k:ratio=0.01:strategy=synchronous,powersgd:rank=2,sidco:ratio=0.01:interval=3,dgc:ratio=0.01,one_bit,"
    "top_k:ratio=0.01:feedback=ef21,adaptive_threshold,redsync:variant=paper:search=binary:interval=3,"
    "top_k:ratio=0.02:reducer=ok_topk:reducer.interval=3,signum,"
    "top_k:ratio=0.02+qsgd:bits=4,top_k:ratio=0.01:feedback.rate_aware=on,ef_sign:variant=paper:reducer=two_phase";

struct Interrupted {};

report::Json settings(Rig& rig, const std::string& list = methods) {
  return checkpoint_settings(rig.options, *rig.task, rig.parse(list), rig.control->size(),
                             describe(buckets_of(rig.model->layout(), rig.options.strategy_options().exchange)));
}

/// Trains until the checkpoint of half the steps is written, and then half of the remaining steps.
void run_interrupted(Rig& rig, const std::string& list = methods) {
  rig.options.checkpoint_every = rig.options.steps / 2;
  const Checkpoints checkpoints(rig.options, settings(rig, list));
  const auto contenders = rig.parse(list);
  index_t calls = 0;
  EXPECT_THROW(compare(
                   Exec(), rig.job(), contenders,
                   [&](const std::string& label) {
                     rig.on_step(label);
                     if (++calls == rig.options.steps * 3 / 4 * std::ssize(contenders)) throw Interrupted();
                   },
                   &checkpoints),
               Interrupted);
}

/// Trains `list` once without an interruption and once with one. Returns the results without.
std::vector<MethodResult> expect_equal_after_resume(Rig& rig, const std::string& list) {
  const auto whole = rig.run(list);
  const Folder folder(*rig.control);
  rig.options.checkpoint_folder = folder.path();
  run_interrupted(rig, list);
  rig.options.resume_folder = folder.path();
  rig.options.checkpoint_folder.clear();
  rig.options.checkpoint_every = 0;
  const Checkpoints checkpoints(rig.options, settings(rig, list));
  const auto resumed = rig.run(list, &checkpoints);

  for (std::size_t i = 0; i < whole.size(); ++i) {
    const MethodResult &a = whole[i], &b = resumed[i];
    const std::string& label = a.contender.spec.label;
    EXPECT_EQ(a.parameters_hash, b.parameters_hash) << label;
    EXPECT_EQ(a.curve.step, b.curve.step) << label;
    EXPECT_EQ(a.curve.loss, b.curve.loss) << label;
    EXPECT_EQ(a.curve.accuracy, b.curve.accuracy) << label;
    EXPECT_EQ(a.curve.wire_bytes, b.curve.wire_bytes) << label;
    EXPECT_EQ(a.density_ratio, b.density_ratio) << label;
    EXPECT_EQ(a.payload_bytes, b.payload_bytes) << label;
    EXPECT_EQ(a.step_ms.size(), b.step_ms.size()) << label;
    EXPECT_EQ(a.reached.has_value(), b.reached.has_value()) << label;
    EXPECT_EQ(a.diverged_at, b.diverged_at) << label;
    EXPECT_TRUE(b.replicas_equal) << label;
  }
  return whole;
}

TEST(Resume, EqualsTheUninterruptedRunBitForBit) {
  Rig rig;
  rig.options.accumulate = 2;
  rig.options.target = "accuracy=0.3";
  expect_equal_after_resume(rig, methods);
}

class ResumeStrategy : public testing::TestWithParam<std::string> {};

std::vector<std::string> strategies() {
  std::vector<std::string> names;
  for (const StrategyEntry& entry : all_strategies()) names.push_back(entry.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, ResumeStrategy, testing::ValuesIn(strategies()), gradcomp::test::test_name);

TEST_P(ResumeStrategy, EqualsTheUninterruptedRunBitForBit) {
  Rig rig;
  const MethodSpec plain = parse_method("fp32:strategy=" + GetParam());
  const auto options = rig.options.strategy_options();
  const index_t period = make_strategy(plain, rig.model->layout(), 0, *rig.control, options)->period();
  rig.options.steps = period * (period < 4 ? 8 / period : 2);
  rig.options.block = period;
  rig.options.evaluate_every = rig.options.steps / 2;
  expect_equal_after_resume(rig, plain.text + ",top_k:ratio=0.02:strategy=" + GetParam());
}

TEST(Resume, TakesTheHiddenStateAlong) {
  Rig rig;
  rig.options.clip = 0.5;
  rig.task = data::open_task("hmm:tokens=2000:test=300:vocabulary=40:states=4", 8);
  rig.model = nn::make_model<float>("lstm_1x96", rig.task->shape(), 4);
  expect_equal_after_resume(rig, "fp32,top_k:ratio=0.05");
}

TEST(Resume, TakesLossesAndMovedSamplesAlong) {
  Rig rig;
  rig.options.skew = 0.3;
  expect_equal_after_resume(rig,
                            "fp32:sampler=mercury:sampler.slices=2:sampler.slice=3,"
                            "fp32:sampler=importance:sampler.every=3:sampler.reshard=2,"
                            "top_k:ratio=0.02:sampler=mercury:sampler.slices=3:sampler.variant=paper");
}

TEST(Resume, LeavesAMethodEndedThatHasDiverged) {
  for (const char* strategy : {"overlapped", "local:period=2", "priority", "servers"}) {
    SpoiltRig rig;  // in step 3 of 8; the checkpoint is of step 4
    rig.options.strategy = strategy;
    const auto whole =
        expect_equal_after_resume(rig, "top_k:ratio=0.02,top_k:ratio=0.02:label=good:strategy=overlapped");
    EXPECT_TRUE(whole[0].diverged_at) << strategy;
    EXPECT_FALSE(whole[1].diverged_at) << strategy;
  }
}

TEST(Resume, OfAFinishedRunTrainsNoMore) {
  Rig rig;
  const Folder folder(*rig.control);
  rig.options.checkpoint_folder = rig.options.resume_folder = folder.path();
  const std::string list = "fp32,fp32:label=again";
  const Checkpoints checkpoints(rig.options, settings(rig, list));
  const auto first = rig.run(list, &checkpoints);
  const std::string killed = fmt::format("{}/seed1/rank{}_step3.ckpt", folder.path(), rig.control->rank());
  std::ofstream(killed) << "left by a run that was killed before it removed its earlier files";
  const auto again = rig.run(list, &checkpoints);
  EXPECT_FALSE(fs::exists(killed));
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].step_ms, again[i].step_ms) << "times would differ if it had trained again";
    EXPECT_EQ(first[i].parameters_hash, again[i].parameters_hash);
  }
}

TEST(Resume, RefusesOtherOptionsAndDamagedFiles) {
  using testing::HasSubstr;
  Rig rig;
  const Folder folder(*rig.control);
  rig.options.checkpoint_folder = folder.path();
  run_interrupted(rig, "fp32,top_k");
  rig.options.resume_folder = folder.path();
  rig.options.checkpoint_folder.clear();
  const auto resume = [&](const std::string& list) {
    return error_of([&] {
      const Checkpoints checkpoints(rig.options, settings(rig, list));
      rig.run(list, &checkpoints);
    });
  };
  rig.options.weight_decay = 0;
  EXPECT_THAT(resume("fp32,top_k"), HasSubstr("was made with weight_decay 0.0005, but this job has 0"));
  rig.options.weight_decay = 5e-4;
  EXPECT_THAT(resume("fp32,qsgd"), HasSubstr("methods"));

  barrier(*rig.control);
  const std::string path = fmt::format("{}/seed1/rank{}_step4.ckpt", folder.path(), rig.control->rank());
  auto bytes = data::read_file(path);
  bytes[bytes.size() / 2] ^= 1U;
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  EXPECT_THAT(resume("fp32,top_k"), HasSubstr("is damaged"));
  rig.options.seed = 7;
  EXPECT_THAT(error_of([&] { check_checkpoints(rig.options, 0); }), HasSubstr("no checkpoint of seed 7"));
  rig.options.seed = 0;
  rig.options.seeds = 3;
  EXPECT_EQ(error_of([&] { check_checkpoints(rig.options, 0); }), "") << "one of the seeds 0, 1 and 2 is enough";
}

/// Writes `width` bytes of `value` over number `index` of an array of a checkpoint, and corrects the checksum.
void forge(const std::string& path, const std::string& array, std::size_t index, index_t value, std::size_t width) {
  auto bytes = data::read_file(path);
  const auto name = std::search(bytes.begin(), bytes.end(), array.begin(), array.end());
  ASSERT_NE(name, bytes.end()) << array;
  std::memcpy(&*name + array.size() + width * index, &value, width);
  const std::uint32_t crc = data::crc32(bytes.data(), bytes.size() - data::checksum_size);
  std::memcpy(bytes.data() + bytes.size() - data::checksum_size, &crc, sizeof crc);
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

TEST(Checkpoint, RefusesContentThatNoRunHas) {
  struct Case {
    const char *method, *array;
    std::size_t index;
    index_t value;
    const char* said;
    std::size_t width = sizeof(index_t);
  };
  const std::string sampled = "fp32:sampler=mercury:sampler.slices=2:sampler.slice=3";
  const index_t large = index_t{1} << 40;
  for (const Case& c :
       {Case{"fp32", "rank, seed, step", 0, 7, "is the checkpoint of rank, seed and step 7, 1, 4"},
        {"fp32", "rank, seed, step", 1, 2, "is the checkpoint of rank, seed and step"},
        {"fp32", "/counters", 0, large, "counters' holds numbers"},
        {"fp32", "/counters", 0, 3, "counters' holds numbers"},
        {sampled.c_str(), "/numbers", 2, index_t{1} << 36, "numbers' holds numbers"},
        {sampled.c_str(), "/numbers", 1, large, "numbers' holds numbers"},
        {sampled.c_str(), "/numbers", 4, -1, "numbers' holds numbers"},  // a NaN
        {sampled.c_str(), "/group", 0, large, "group' holds numbers"},
        {sampled.c_str(), "/samples", 0, large, "samples are not those of the data set"},
        {"fp32:strategy=servers", "/server/clocks", 0, world()->size() > 1 ? large : -1, "clocks' holds numbers"},
        {"fp32:strategy=servers", "/server/version", 0, -1, "version' holds numbers"},
        {"fp32:strategy=servers", "/versions", 0, -1, "versions' holds numbers"},
        {"fp32:strategy=local:strategy.period=2", "/steps", 0, large, "steps' holds numbers"},
        {"fp32:strategy=local:strategy.period=2", "/period", 0, 0, "period' holds numbers"},
        {"sidco", "/sidco_history", 0, large - 1, "sidco_history' holds numbers"},
        {"redsync:variant=paper", "/redsync_thresholds", 0, -1, "redsync_thresholds'"},
        {"adaptive_threshold", "/thresholds", 0, -1, "/thresholds' holds numbers", 4}}) {
    Rig rig;
    const Folder folder(*rig.control);
    rig.options.checkpoint_folder = folder.path();
    run_interrupted(rig, c.method);
    rig.options.resume_folder = folder.path();
    rig.options.checkpoint_folder.clear();
    barrier(*rig.control);
    forge(fmt::format("{}/seed1/rank{}_step4.ckpt", folder.path(), rig.control->rank()), c.array, c.index, c.value,
          c.width);
    const Checkpoints checkpoints(rig.options, settings(rig, c.method));
    EXPECT_THAT(error_of([&] { rig.run(c.method, &checkpoints); }), testing::HasSubstr(c.said)) << c.method;
  }
}

TEST(Checkpoint, LeavesOneFileOfEachRankAndTheManifest) {
  Rig rig;
  const Folder folder(*rig.control);
  rig.options.checkpoint_folder = folder.path();
  rig.options.checkpoint_every = 2;
  const Checkpoints checkpoints(rig.options, settings(rig, "fp32"));
  data::require_writable_folder(folder.path() + "/seed1");
  const std::string left = fmt::format("{}/seed1/.rank{}_step4.ckpt.99.tmp", folder.path(), rig.control->rank());
  std::ofstream(left) << "of an interrupted write";
  rig.run("fp32", &checkpoints);
  barrier(*rig.control);
  std::vector<std::string> names, wanted{"checkpoint.json"};
  for (const auto& entry : fs::directory_iterator(folder.path() + "/seed1")) {
    names.push_back(entry.path().filename().string());
  }
  for (int r = 0; r < rig.control->size(); ++r) wanted.push_back(fmt::format("rank{}_step8.ckpt", r));
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(wanted));
  barrier(*rig.control);
}

/// The last step of servers ends in drain(), for which all ranks are needed.
TEST(Checkpoint, OfARankThatCannotWriteIsOneErrorOnAllRanks) {
  Rig rig;
  const Folder folder(*rig.control);
  data::require_writable_folder(folder.path());
  const bool last = rig.control->rank() + 1 == rig.control->size();
  if (last) std::ofstream(folder.path() + "/file") << "no folder";
  rig.options.checkpoint_folder = folder.path() + (last ? "/file" : "/folder");
  rig.options.checkpoint_every = 2;
  rig.options.timeout = 30;  // without it, a rank that drains alone would wait forever
  const std::string method = "fp32:strategy=servers";
  const Checkpoints checkpoints(rig.options, settings(rig, method));
  EXPECT_THAT(error_of([&] { rig.run(method, &checkpoints); }), testing::HasSubstr("/file"));
}

}  // namespace resume_test
}  // namespace gradcomp::train::test
