#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "error_of.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/data/open_task.hpp"

namespace gradcomp::data {
namespace task_test {

TEST(ImageTask, SaysWhatAModelMustTake) {
  const auto task = open_task("shapetex10:train=40:test=10");
  const InputShape shape = task->shape();
  EXPECT_EQ(shape.kind, InputShape::Kind::images);
  EXPECT_EQ(shape.height, 32);
  EXPECT_EQ(shape.width, 32);
  EXPECT_EQ(shape.channels, 3);
  EXPECT_EQ(shape.classes, 10);
  EXPECT_EQ(task->crc().size(), 8U);
  EXPECT_EQ(task->steps_per_epoch({6, 1, 2, 3}), 3);
  EXPECT_THROW(task->steps_per_epoch({21, 0, 2, 1}), Error) << "there is no whole global batch";
  EXPECT_THROW(open_task("shapetex10:train=40:test=10", 16), Error) << "images have no length";
}

TEST(Task, UnknownDataAreAnsweredWithTheNearestKindAndAllSpecs) {
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  const std::string all =
      "cifar10:DIR, cifar100:DIR[:labels=fine|coarse], digits:FILE, frames:FILE, gcds:FILE, hmm[:key=value...], "
      "keywords[:key=value...], "
      "kjv:FILE[:key=value...], packed:PATH, ptb:DIR[:key=value...], shapetex10[:key=value...], "
      "text:FILE[:key=value...], wikitext:DIR[:key=value...]";
  EXPECT_EQ(test::error_of([] { open_task("mnist"); }), "unknown data 'mnist'; allowed: " + all);
  EXPECT_THAT(test::error_of([] { open_task("ShapeTex-10:train=40"); }),
              HasSubstr("unknown data 'ShapeTex-10:train=40'; did you mean 'shapetex10'? allowed: "));
  EXPECT_THAT(test::error_of([] { open_task("cifar10"); }),
              AllOf(HasSubstr("names no folder"), HasSubstr("cifar10:DIR")));
  EXPECT_THAT(test::error_of([] { open_task("digits:x:level=word"); }), HasSubstr("digits takes none"));
}

TEST(ImageTask, EveryTestImageComesOnceOverRanks) {
  const auto task = open_task("shapetex10:train=40:test=23");
  for (const int ranks : {1, 2, 3}) {
    std::vector<index_t> seen;
    Batch batch;
    for (int rank = 0; rank < ranks; ++rank) {
      index_t number = 0;
      for (; task->held_out(Split::test, {4, rank, ranks}, number, batch); ++number) {
        ASSERT_LE(batch.indices.size(), 4U);
        ASSERT_EQ(batch.labels.size(), batch.indices.size());
        ASSERT_EQ(batch.features.size(), 3072 * batch.indices.size());
        EXPECT_EQ(batch.labels[0], batch.indices[0] % 10);
        seen.insert(seen.end(), batch.indices.begin(), batch.indices.end());
      }
      EXPECT_FALSE(task->held_out(Split::test, {4, rank, ranks}, number + 1, batch));
    }
    std::sort(seen.begin(), seen.end());
    ASSERT_EQ(seen.size(), 23U) << ranks;
    for (index_t i = 0; i < 23; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
  }
}

/// A small data set of every kind.
class AnyTask : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Kinds, AnyTask,
                         testing::Values("shapetex10:train=47:test=10", "keywords:train=47:validation=10:test=10",
                                         "hmm:tokens=800:test=100:vocabulary=30:states=4"));

TEST_P(AnyTask, DealsEverySampleToOneRank) {
  const auto task = open_task(GetParam());
  std::vector<index_t> alone = task->samples({2, 0, 1});
  EXPECT_TRUE(std::is_sorted(alone.begin(), alone.end()));
  for (const int ranks : {2, 3}) {
    std::vector<index_t> all;
    const index_t each = std::ssize(alone) / ranks;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto own = task->samples({2, rank, ranks});
      EXPECT_EQ(std::ssize(own), each);
      EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
      all.insert(all.end(), own.begin(), own.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "a sample has two owners";
    EXPECT_TRUE(std::includes(alone.begin(), alone.end(), all.begin(), all.end()));
  }
  EXPECT_THROW(task->samples({1000, 0, 2}), Error) << "fewer than a batch";
  EXPECT_GT(task->sample_bytes(), 0);
}

TEST(AnyTask, HasTheSamplesAndBytesOfItsSet) {
  const auto images = open_task("shapetex10:train=47:test=10");
  EXPECT_EQ(images->samples({2, 0, 1}).back(), 46);
  EXPECT_EQ(images->sample_bytes(), 32 * 32 * 3 + 2) << "pixels and a label";
  const auto words = open_task("keywords:train=47:validation=10:test=10", 20);
  EXPECT_EQ(words->samples({2, 0, 1}).back(), 46);
  EXPECT_EQ(words->sample_bytes(), 20 * 16 * 4 + 4) << "frames of 16 floats and a label";
  const auto text = open_task("hmm:tokens=800:test=100:vocabulary=30:states=4");
  const auto sequences = text->samples({2, 0, 1});
  ASSERT_EQ(sequences.size(), 24U) << "799 words are predicted in whole sequences of 32";
  EXPECT_EQ(sequences.back(), 23 * 32);
  EXPECT_EQ(text->sample_bytes(), 33 * 4) << "32 words and the one after them";
}

TEST_P(AnyTask, FillsAnySamplesAsItsOwnBatches) {
  const auto task = open_task(GetParam());
  const Shard shard{3, 0, 1};
  const auto training = task->training(shard);
  Batch own, filled;
  own.step = 1;
  training(own);
  filled.indices = own.indices;
  task->fill(shard, filled);
  EXPECT_EQ(filled.features, own.features);
  EXPECT_EQ(filled.tokens, own.tokens);
  EXPECT_EQ(filled.labels, own.labels);
  const index_t first = own.indices[0];
  filled.indices.assign(3, first);  // samples may repeat
  task->fill(shard, filled);
  const std::size_t labels = filled.labels.size() / 3;
  EXPECT_TRUE(std::equal(filled.labels.begin(), filled.labels.begin() + static_cast<std::ptrdiff_t>(labels),
                         filled.labels.begin() + static_cast<std::ptrdiff_t>(labels)));
  if (task->shape().kind == InputShape::Kind::tokens) {
    EXPECT_TRUE(filled.restart) << "no sequence precedes one that is drawn";
  }
}

TEST(AnyTask, SkewsShardsByLabel) {
  const auto task = open_task("shapetex10:train=200:test=10");
  const auto own = task->samples({4, 0, 2, 1, false, 0.05});
  EXPECT_EQ(own.size(), 100U);
  std::array<int, 10> count{};
  for (const index_t sample : own) ++count.at(static_cast<std::size_t>(sample % 10));
  EXPECT_GE(*std::max_element(count.begin(), count.end()), 18) << "a rank must have nearly a whole class";
}

}  // namespace task_test
}  // namespace gradcomp::data
