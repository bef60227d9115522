#include "gradcomp/data/task.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "gradcomp/core/error.hpp"

namespace gradcomp::data {
namespace {

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
  EXPECT_THROW(task->steps_per_epoch({21, 0, 2, 1}), Error) << "no whole global batch";
  EXPECT_THROW(open_task("shapetex10:train=40:test=10", 16), Error) << "images have no length";
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
        ASSERT_EQ(batch.images.size(), 3072 * batch.indices.size());
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

}  // namespace
}  // namespace gradcomp::data
