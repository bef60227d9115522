#include "gradcomp/data/loader.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>

#include "gradcomp/data/generated/shapetex.hpp"
#include "gradcomp/data/image_task.hpp"
#include "gradcomp/data/sampler.hpp"
#include "gradcomp/data/transform.hpp"

namespace gradcomp::data {
namespace loader_test {

void pause(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

TEST(Loader, EqualsDirectGenerationForAnyTiming) {
  ImageData data = make_shapetex(ShapeTexOptions::parse("train=40:test=10"));
  describe(data);
  const ImageTask task(data);
  const Transform transform(data, {true, 4, 3});
  const SamplerOptions options{40, 6, 1, 2, 3};
  for (const int slow : {0, 1}) {
    Loader loader(task.training({6, 1, 2, 3, true}), 2);
    Sampler sampler(options);
    std::vector<index_t> indices;
    std::vector<float> images(6 * 3072);
    std::vector<std::int32_t> labels(6);
    for (index_t step = 2; step < 14; ++step) {
      if (slow != 0 && step % 3 == 0) pause(5);
      const Batch& batch = loader.next();
      sampler.batch(step, indices);
      transform.fill(data.train, indices, sampler.epoch(step), images, labels);
      EXPECT_EQ(batch.step, step);
      EXPECT_EQ(batch.epoch, step / 3);
      EXPECT_EQ(batch.indices, indices);
      EXPECT_EQ(batch.features, images);
      EXPECT_EQ(batch.labels, labels);
    }
  }
}

TEST(Loader, RunsAtMostTwoBatchesAheadAndKeepsTheCurrentOne) {
  std::atomic<index_t> filled{0};
  Loader loader([&](Batch& batch) {
    batch.labels.assign(1, static_cast<std::int32_t>(batch.step));
    ++filled;
  });
  for (index_t step = 0; step < 8; ++step) {
    const Batch& batch = loader.next();
    pause(3);  // gives the thread enough time to run ahead
    EXPECT_EQ(batch.labels[0], step);
    EXPECT_LE(filled, step + 3);
  }
}

TEST(Loader, ExceptionsReachTheConsumerAtTheirStep) {
  Loader loader([](Batch& batch) {
    if (batch.step == 2) throw std::runtime_error("broken at 2");
  });
  EXPECT_EQ(loader.next().step, 0);
  pause(3);  // the thread has failed now, but the batch of step 1 is good
  EXPECT_EQ(loader.next().step, 1);
  EXPECT_THROW(loader.next(), std::runtime_error);
  EXPECT_THROW(loader.next(), std::runtime_error);
}

TEST(Loader, StopsCleanlyAtAnyMoment) {
  for (int takes = 0; takes < 5; ++takes) {
    std::atomic<int> begun = 0, finished = 0;
    {
      Loader loader([&](Batch&) {
        ++begun;
        pause(1);
        ++finished;
      });
      for (int i = 0; i < takes; ++i) loader.next();
    }
    const int after = begun;
    EXPECT_EQ(finished, after) << "a batch was not finished";
    EXPECT_GE(after, takes);
    pause(3);
    EXPECT_EQ(begun, after) << "the thread still runs";
  }
}

}  // namespace loader_test
}  // namespace gradcomp::data
