#include "gradcomp/data/frames.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <set>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/data/formats/gcfs.hpp"
#include "gradcomp/data/frames_task.hpp"
#include "gradcomp/data/generated/keywords.hpp"
#include "gradcomp/data/spec.hpp"
#include "unit/data/temp_dir.hpp"

namespace gradcomp::data {
namespace frames_test {

using test::Bytes;
using test::TempDir;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;

void put(Bytes& bytes, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::uint8_t>(value >> shift & 0xFFU));
}

/// A GCFS file with 3 training sequences, of which the last one is for validation, 1 test sequence, 2 features and 3
/// classes. `change` is applied before the checksum is computed.
Bytes gcfs_file(const std::function<void(Bytes&)>& change = {}) {
  Bytes bytes = {'G', 'C', 'F', 'S'};
  for (const std::uint32_t field : {1U, 3U, 1U, 2U, 3U}) put(bytes, field);
  const std::vector<std::vector<float>> sequences = {{1, 10, 3, 10}, {5, 10}, {0, 90}, {7, 8, 9, 10, 11, 12}};
  const std::vector<std::uint32_t> labels = {2, 1, 1, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    put(bytes, labels[i]);
    put(bytes, static_cast<std::uint32_t>(sequences[i].size() / 2));
    for (const float value : sequences[i]) put(bytes, std::bit_cast<std::uint32_t>(value));
  }
  if (change) change(bytes);
  put(bytes, crc32(bytes.data(), bytes.size()));
  return bytes;
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

TEST(Gcfs, ReadsSequencesAndDescribesThem) {
  const TempDir dir;
  const FrameData data = open_frames("frames:" + dir.write("f.gcfs", gcfs_file()));
  EXPECT_EQ(data.name, "frames");
  EXPECT_EQ(data.train.count(), 2);
  EXPECT_THAT(data.train.labels, ElementsAre(2, 1));
  EXPECT_THAT(data.validation.labels, ElementsAre(1));
  EXPECT_THAT(data.validation.values, ElementsAre(0, 90));
  EXPECT_THAT(data.test.labels, ElementsAre(0));
  EXPECT_EQ(data.train.frames(0), 2);
  EXPECT_EQ(data.train.frames(1), 1);
  EXPECT_EQ(data.train.sequence(1)[0], 5);
  EXPECT_EQ(data.test.sequence(0)[5], 12);
  EXPECT_THAT(data.mean, ElementsAre(3, 10));
  EXPECT_FLOAT_EQ(data.std[0], std::sqrt(8.0F / 3));
  EXPECT_EQ(data.std[1], 1);  // no spread
}

TEST(Gcfs, ErrorsSayWhatIsWrong) {
  const TempDir dir;
  const auto error_with = [&](const std::function<void(Bytes&)>& change) {
    return error_of([&] { read_gcfs(dir.write("bad.gcfs", gcfs_file(change))); });
  };
  EXPECT_THAT(error_with([](Bytes& b) { b[0] = 'X'; }), HasSubstr("not a GCFS file"));
  EXPECT_THAT(error_with([](Bytes& b) { b[4] = 2; }), HasSubstr("version 2"));
  EXPECT_THAT(error_with([](Bytes& b) { b[4] = 0; }), HasSubstr("version 0, expected 1"));
  EXPECT_THAT(error_with([](Bytes& b) { b[16] = 0; }), HasSubstr("impossible extents"));
  // Numbers of training sequences, features and classes, in words of four bytes.
  for (const auto& [at, value] : {std::pair{8U, 0U}, {16U, 65537U}, {20U, 1U}, {20U, 0U}, {20U, 65537U}}) {
    const std::string said = error_with([at = at, value = value](Bytes& b) {
      for (std::size_t byte = 0; byte < 4; ++byte) b[at + byte] = static_cast<std::uint8_t>(value >> 8 * byte & 0xFFU);
    });
    EXPECT_THAT(said, HasSubstr("impossible extents")) << at;
    EXPECT_THAT(said, HasSubstr("(at least 1)"));
    EXPECT_THAT(said, HasSubstr(fmt::format("{}", value)));
  }
  EXPECT_THAT(error_with([](Bytes& b) { b[24] = 3; }), HasSubstr("sequence 0 has label 3"));
  EXPECT_THAT(error_with([](Bytes& b) { b[31] = 0xFF; }), HasSubstr("sequence 0 has 4278190082 frames"));
  EXPECT_THAT(error_with([](Bytes& b) { b[28] = 0; }), HasSubstr("sequence 0 has 0 frames"));
  EXPECT_THAT(error_with([](Bytes& b) { b[35] = 0x7F, b[34] = 0x80; }), HasSubstr("not finite"));
  EXPECT_THAT(error_with([](Bytes& b) { b.pop_back(); }), HasSubstr("more than the file"));
  EXPECT_THAT(error_with([](Bytes& b) { b.push_back(0); }), HasSubstr("1 bytes behind"));
  const Bytes good = gcfs_file();
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= 0x40U;
    EXPECT_THROW(read_gcfs(dir.write("bad.gcfs", bad)), Error) << i;
    bad.resize(i);
    EXPECT_THROW(read_gcfs(dir.write("bad.gcfs", bad)), Error) << i;
  }
  for (const char* spec : {"frames", "frames:", "frames:x:a=1", "keywords:file", "words"}) {
    EXPECT_THAT(error_of([&] { open_frames(spec); }), HasSubstr("keywords[:key=value...]")) << spec;
  }
}

KeywordOptions parse(const std::string& text) { return KeywordOptions::from(split_pairs("keywords", text)); }

TEST(Keywords, EverySecondOneIsTheOneBeforeItBackwards) {
  const auto keywords = keyword_phonemes(KeywordOptions{});
  ASSERT_EQ(keywords.size(), 10U);
  for (std::size_t c = 0; c < 10; c += 2) {
    EXPECT_TRUE(std::equal(keywords[c].begin(), keywords[c].end(), keywords[c + 1].rbegin()));
    EXPECT_NE(keywords[c], keywords[c + 1]);
    EXPECT_EQ(std::set<index_t>(keywords[c].begin(), keywords[c].end()).size(), 5U);
  }
  EXPECT_EQ(std::set<std::vector<index_t>>(keywords.begin(), keywords.end()).size(), 10U);
}

/// Share of the test recordings for which the nearest class mean of `view` (a vector per recording) is that of their
/// class.
double nearest_mean(const FrameData& data, const std::function<std::vector<double>(const FrameSet&, index_t)>& view) {
  std::vector<std::vector<double>> mean(static_cast<std::size_t>(data.train.classes));
  for (index_t i = 0; i < data.train.count(); ++i) {
    const auto x = view(data.train, i);
    auto& m = mean[static_cast<std::size_t>(data.train.labels[static_cast<std::size_t>(i)])];
    m.resize(x.size());
    for (std::size_t k = 0; k < x.size(); ++k)
      m[k] += x[k] * static_cast<double>(data.train.classes) / static_cast<double>(data.train.count());
  }
  double right = 0;
  for (index_t i = 0; i < data.test.count(); ++i) {
    const auto x = view(data.test, i);
    std::vector<double> distance;
    for (const auto& m : mean) {
      double sum = 0;
      for (std::size_t k = 0; k < x.size(); ++k) sum += (x[k] - m[k]) * (x[k] - m[k]);
      distance.push_back(sum);
    }
    right += std::min_element(distance.begin(), distance.end()) - distance.begin() ==
             data.test.labels[static_cast<std::size_t>(i)];
  }
  return right / static_cast<double>(data.test.count());
}

/// Means over each of `parts` equal parts of a recording, [parts][features].
std::vector<double> mean_over_time(const FrameSet& set, index_t i, index_t parts) {
  std::vector<double> x(static_cast<std::size_t>(parts * set.features));
  const index_t frames = set.frames(i);
  for (index_t t = 0; t < frames; ++t) {
    for (index_t f = 0; f < set.features; ++f) {
      x[static_cast<std::size_t>(t * parts / frames * set.features + f)] +=
          static_cast<double>(set.sequence(i)[t * set.features + f]) * static_cast<double>(parts) /
          static_cast<double>(frames);
    }
  }
  return x;
}

TEST(Keywords, MeanOverTimeTellsPairsButNotTheirMembers) {
  const FrameData data = make_keywords(KeywordOptions{});
  const double blind = nearest_mean(data, [](const FrameSet& s, index_t i) { return mean_over_time(s, i, 1); });
  const double ordered = nearest_mean(data, [](const FrameSet& s, index_t i) { return mean_over_time(s, i, 5); });
  // docs/datasets.md states these values.
  EXPECT_NEAR(blind, 0.268, 0.002);
  EXPECT_NEAR(ordered, 0.865, 0.002);
}

TEST(Keywords, GoldenChecksum) {
  // Another value means that every published accuracy changes. Such a change needs another name of the task.
  FrameData data = open_frames("keywords:train=500:test=100");
  EXPECT_EQ(data.crc, "b7404548");
  data.validation = {};
  data.validation.first.clear();
  describe(data);
  EXPECT_EQ(data.crc, "91ea5564") << "training and test set alone";
}

TEST(Keywords, RecordingsDoNotDependOnTheirNumberAndDialsChangeThem) {
  const FrameData all = make_keywords(parse("train=60:test=20")), part = make_keywords(parse("train=30:test=10"));
  EXPECT_TRUE(std::equal(part.train.values.begin(), part.train.values.end(), all.train.values.begin()));
  EXPECT_FALSE(std::equal(part.test.values.begin(), part.test.values.end(), all.train.values.begin()));
  for (const char* dial : {"classes=4", "features=8", "phonemes=30", "spoken=4", "warp=1", "pause=0", "speaker=0",
                           "noise=0.1", "seed=2"}) {
    const KeywordOptions options = parse(std::string("train=30:test=10:") + dial);
    EXPECT_NE(make_keywords(options).train.values, part.train.values) << dial;
    EXPECT_THAT(options.canonical(), HasSubstr(dial));
    EXPECT_EQ(parse(options.canonical().substr(9)).canonical(), options.canonical());
  }
  EXPECT_THROW(parse("spoken=9:phonemes=8"), Error);
}

TEST(FramesTask, CutsPadsNormalisesAndDeals) {
  const TempDir dir;
  const std::string path = dir.write("f.gcfs", gcfs_file());
  const auto task = make_frames_task("frames:" + path);
  EXPECT_EQ(task->name(), "frames:length=2");
  EXPECT_EQ(task->shape().kind, InputShape::Kind::frames);
  EXPECT_EQ(task->shape().length, 2);
  EXPECT_EQ(task->shape().features, 2);
  EXPECT_EQ(task->shape().classes, 3);
  const Shard alone{2, 0, 1, 1, false, 0};
  EXPECT_EQ(task->steps_per_epoch(alone), 1);
  Batch batch;
  ASSERT_TRUE(task->held_out(Split::test, alone, 0, batch));
  const float scale = std::sqrt(3.0F / 8);
  EXPECT_THAT(batch.features, ElementsAre(FloatEq(4 * scale), -2, FloatEq(6 * scale), 0));  // the third frame is cut
  EXPECT_THAT(batch.labels, ElementsAre(0));
  EXPECT_FALSE(task->held_out(Split::test, alone, 1, batch));
  ASSERT_TRUE(task->held_out(Split::validation, alone, 0, batch));
  EXPECT_THAT(batch.features, ElementsAre(FloatEq(-3 * scale), 80, 0, 0));
  EXPECT_FALSE(task->held_out(Split::test, {1, 1, 2, 1, false, 0}, 0, batch));
  batch.step = 3;
  task->training(alone)(batch);
  EXPECT_EQ(batch.epoch, 3);
  const std::size_t second = batch.labels[0] == 1 ? 0 : 1;  // the sequence of one frame
  EXPECT_EQ(batch.labels[second], 1);
  EXPECT_THAT(std::vector<float>(batch.features.begin() + static_cast<long>(second) * 4,
                                 batch.features.begin() + static_cast<long>(second) * 4 + 4),
              ElementsAre(FloatEq(2 * scale), 0, 0, 0));
  EXPECT_EQ(make_frames_task("frames:" + path + ":length=1")->shape().length, 1);
  EXPECT_EQ(make_frames_task("frames:" + path, 5)->shape().length, 5);
}

TEST(FramesTask, TestSequencesComeOnceAndSkewedRanksAreWhole) {
  const auto task = make_frames_task("keywords:train=200:test=53");
  std::multiset<index_t> seen;
  for (int rank = 0; rank < 3; ++rank) {
    Batch batch;
    for (index_t n = 0; task->held_out(Split::test, {4, rank, 3, 1, false, 0}, n, batch); ++n)
      seen.insert(batch.indices.begin(), batch.indices.end());
    const Shard skewed{4, rank, 3, 1, false, 0.1};
    EXPECT_EQ(task->steps_per_epoch(skewed), 16);  // 66 / 4
    task->training(skewed)(batch);
    EXPECT_EQ(batch.labels.size(), 4U);
  }
  EXPECT_EQ(seen.size(), 53U);
  EXPECT_EQ(std::set<index_t>(seen.begin(), seen.end()).size(), 53U);
}

}  // namespace frames_test
}  // namespace gradcomp::data
