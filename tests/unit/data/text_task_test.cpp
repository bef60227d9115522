#include "gradcomp/data/text_task.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/generated/hmm.hpp"
#include "unit/data/temp_dir.hpp"

namespace gradcomp::data {
namespace text_task_test {

using ::testing::HasSubstr;

constexpr const char* spec = "hmm:tokens=1000:test=500:length=7";

/// The training or test text of `spec`.
std::vector<std::int32_t> text(Split split, index_t count) {
  HmmOptions options;
  options.tokens = 1000;
  options.test = 500;
  return Hmm(options).draw(split, count);
}

Shard shard(index_t batch, int rank, int ranks) { return {batch, rank, ranks, 1, false, 0}; }

Batch batch_of(const Task& task, const Shard& part, index_t step) {
  Batch batch;
  batch.step = step;
  task.training(part)(batch);
  return batch;
}

TEST(TextTask, SaysWhatItIs) {
  const auto task = make_text_task(spec);
  const InputShape shape = task->shape();
  EXPECT_EQ(shape.kind, InputShape::Kind::tokens);
  EXPECT_EQ(shape.length, 7);
  EXPECT_EQ(shape.classes, 400);
  EXPECT_THAT(task->name(), HasSubstr("tokens=1000:validation=500:test=500:seed=4:length=7"));
  EXPECT_EQ(make_text_task("hmm:tokens=1000:test=500", 7)->name(), task->name());
  EXPECT_EQ(make_text_task("hmm:tokens=1000:test=500")->shape().length, 32);
  EXPECT_EQ(task->crc(), make_text_task("hmm:tokens=1000:test=500")->crc());
  // 499 tokens can be predicted; 71 steps of 7 tokens use 497 of them, to which the floor belongs.
  const auto all = text(Split::test, 498);
  EXPECT_DOUBLE_EQ(task->loss_floor(), Hmm(HmmOptions{}).cross_entropy(all));
}

TEST(TextTask, SequencesWalkTheirStretches) {
  const auto task = make_text_task(spec);
  const auto all = text(Split::train, 1000);
  const index_t steps = task->steps_per_epoch(shard(3, 0, 2));
  ASSERT_EQ(steps, 23);  // 999 / 6 / 7
  std::vector<int> seen(1000);
  for (int rank = 0; rank < 2; ++rank) {
    for (index_t step = 0; step < 2 * steps; ++step) {
      const Batch batch = batch_of(*task, shard(3, rank, 2), step);
      EXPECT_EQ(batch.restart, step % steps == 0);
      EXPECT_EQ(batch.epoch, step / steps);
      ASSERT_EQ(batch.tokens.size(), 21U);
      for (std::size_t i = 0; i < 21; ++i) {
        const std::size_t stretch = i / 7 * 2 + static_cast<std::size_t>(rank);
        const std::size_t at = (stretch * 23 + static_cast<std::size_t>(step % steps)) * 7 + i % 7;
        EXPECT_EQ(batch.tokens[i], all[at]);
        EXPECT_EQ(batch.labels[i], all[at + 1]);
        ++seen[at];
      }
      EXPECT_TRUE(batch.features.empty());
    }
  }
  for (std::size_t t = 0; t < 1000; ++t) EXPECT_EQ(seen[t], t < 6 * 23 * 7 ? 2 : 0) << t;
}

TEST(TextTask, GlobalBatchIsTheSameForAnyNumberOfRanks) {
  const auto task = make_text_task(spec);
  const Batch one = batch_of(*task, shard(4, 0, 1), 5);
  const Batch second = batch_of(*task, shard(2, 1, 2), 5);
  EXPECT_EQ(second.indices, (std::vector<index_t>{one.indices[1], one.indices[3]}));
}

/// How often each test token is predicted on all ranks together. Checks that hidden states always belong to the text.
std::map<index_t, int> predicted(const Task& task, index_t lanes, int ranks, std::vector<index_t>& starts) {
  const auto all = text(Split::test, 500);
  std::map<index_t, int> times;
  for (int rank = 0; rank < ranks; ++rank) {
    Batch batch, before;
    for (index_t number = 0; task.held_out(Split::test, shard(lanes, rank, ranks), number, batch); ++number) {
      EXPECT_LE(std::ssize(batch.indices), lanes);
      EXPECT_TRUE(number > 0 || batch.restart);
      EXPECT_EQ(batch.step, number);
      EXPECT_EQ(batch.epoch, 0);
      EXPECT_EQ(batch.tokens.size(), batch.indices.size() * 7);
      for (std::size_t i = 0; i < batch.indices.size(); ++i) {
        if (batch.restart) {
          starts.push_back(batch.indices[i]);
        } else {
          EXPECT_EQ(batch.indices[i], before.indices.at(i) + 7);
        }
        for (index_t t = 0; t < 7; ++t) {
          const auto at = static_cast<std::size_t>(batch.indices[i] + t), k = i * 7 + static_cast<std::size_t>(t);
          EXPECT_EQ(batch.tokens[k], all[at]);
          EXPECT_EQ(batch.labels[k], all[at + 1]);
          ++times[batch.indices[i] + t + 1];
        }
      }
      if (!batch.restart) {
        EXPECT_EQ(batch.indices.size(), before.indices.size());
      }
      before = batch;
    }
  }
  std::sort(starts.begin(), starts.end());
  return times;
}

TEST(TextTask, EveryTestTokenIsPredictedOnceFromTheSameStartsWhateverTheRanks) {
  const auto task = make_text_task(spec);
  std::vector<index_t> reference;
  for (const int ranks : {1, 2, 3, 5, 40}) {
    for (const index_t lanes : {1, 3, 8, 100}) {
      std::vector<index_t> starts;
      const auto times = predicted(*task, lanes, ranks, starts);
      ASSERT_EQ(times.size(), 497U);  // 71 x 7 of 499
      for (index_t t = 1; t <= 497; ++t) ASSERT_EQ(times.at(t), 1) << t;
      if (reference.empty()) reference = starts;
      EXPECT_EQ(starts, reference);
    }
  }
  EXPECT_EQ(reference.size(), 32U);
}

TEST(TextTask, RefusesWhatCannotWork) {
  const auto task = make_text_task(spec);
  EXPECT_THROW(task->steps_per_epoch(shard(100, 0, 2)), Error);
  EXPECT_THROW(task->training(shard(0, 0, 1)), Error);
  EXPECT_THROW(task->training({4, 0, 2, 1, false, 0.5}), Error);
  EXPECT_THROW(make_text_task("hmm:test=20:length=20"), Error);
  EXPECT_NO_THROW(make_text_task("hmm:tokens=50:test=21:length=20"));
  EXPECT_THROW(make_text_task("hmm:length=0"), Error);
  EXPECT_THROW(make_text_task("hmm:length=8", 9), Error);
  EXPECT_THROW(make_text_task("hmm", -1), Error);
  EXPECT_THROW(make_text_task("shapetex10"), Error);
}

}  // namespace text_task_test
}  // namespace gradcomp::data
