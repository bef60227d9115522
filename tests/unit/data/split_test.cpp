// No sample of a validation or test set is a training sample. Also accuracy and loss of the trivial predictor.
#include "gradcomp/data/split.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/dataset.hpp"
#include "gradcomp/data/generated/hmm.hpp"
#include "gradcomp/data/generated/keywords.hpp"
#include "gradcomp/data/generated/shapetex.hpp"
#include "gradcomp/data/open_task.hpp"

namespace gradcomp::data {
namespace split_test {

TEST(Split, EveryTenthSampleOfAFileIsForValidation) {
  for (const index_t count : {2, 3, 9, 10, 11, 29, 30}) {
    index_t held = 0;
    for (index_t i = 0; i < count; ++i) held += is_for_validation(i, count);
    EXPECT_EQ(held, count < 10 ? 1 : count / 10) << count;
  }
  EXPECT_TRUE(is_for_validation(9, 30) && is_for_validation(29, 30) && is_for_validation(4, 5));
  EXPECT_FALSE(is_for_validation(0, 30) || is_for_validation(10, 30) || is_for_validation(28, 30));
}

TEST(Split, HoldingImagesOutLosesNone) {
  ImageSet train{1, 1, 1, 40, {}, {}};
  for (std::uint8_t i = 0; i < 25; ++i) {
    train.pixels.push_back(i);
    train.labels.push_back(i);
  }
  const ImageSet held = hold_out(train);
  EXPECT_THAT(held.pixels, testing::ElementsAre(9, 19));
  EXPECT_THAT(held.labels, testing::ElementsAre(9, 19));
  EXPECT_EQ(train.count(), 23);
  EXPECT_EQ(train.pixels[9], 10);
  EXPECT_EQ(train.labels[22], 24);
  ImageSet one{1, 1, 1, 2, {0}, {0}};
  EXPECT_THROW(hold_out(one), Error);
}

/// All samples of a set, as their values.
template <class Set>
std::set<std::vector<int>> images_of(const Set& set) {
  std::set<std::vector<int>> all;
  for (index_t i = 0; i < set.count(); ++i) all.emplace(set.image(i), set.image(i) + set.image_size());
  return all;
}

TEST(Split, GeneratedSetsHaveNoImageInCommon) {
  const ImageData data = make_shapetex(ShapeTexOptions::parse("train=60:validation=30:test=40"));
  EXPECT_EQ(data.validation.count(), 30);
  auto all = images_of(data.train);
  for (const ImageSet* set : {&data.validation, &data.test}) all.merge(images_of(*set));
  EXPECT_EQ(all.size(), 130U);
  EXPECT_EQ(make_shapetex(ShapeTexOptions::parse("train=20:test=12")).validation.count(), 12) << "as many as test";
}

TEST(Split, GeneratedTextsAndRecordingsDiffer) {
  const Hmm hmm(HmmOptions{});
  const auto validation = hmm.draw(Split::validation, 300);
  EXPECT_NE(validation, hmm.draw(Split::train, 300));
  EXPECT_NE(validation, hmm.draw(Split::test, 300));
  const FrameData data = make_keywords(KeywordOptions::from({{"train", "20"}, {"test", "20"}}));
  EXPECT_EQ(data.validation.count(), 20);
  EXPECT_NE(data.validation.values, data.test.values);
  EXPECT_NE(data.validation.values, data.train.values);
}

TEST(Split, TheChecksumHoldsTheValidationSetToo) {
  EXPECT_NE(open_task("shapetex10:train=20:test=10")->crc(),
            open_task("shapetex10:train=20:test=10:validation=11")->crc());
  EXPECT_NE(open_task("hmm:tokens=200:test=100")->crc(), open_task("hmm:tokens=200:test=100:validation=101")->crc());
  EXPECT_NE(open_task("keywords:train=20:test=10")->crc(), open_task("keywords:train=20:test=10:validation=11")->crc());
}

TEST(Trivial, IsThePredictorOfTheTrainingFrequencies) {
  // There are five classes. The training set has 6 labels 0 and 3 labels 1; the labels to predict are 0, 1, 1, 4.
  const Trivial t = trivial_predictor({{0, 6}, {1, 3}}, {{0, 1}, {1, 2}, {4, 1}}, 5);
  EXPECT_EQ(t.count, 4);
  EXPECT_DOUBLE_EQ(t.accuracy, 0.25);
  EXPECT_DOUBLE_EQ(t.loss, -(std::log(7.0 / 14) + 2 * std::log(4.0 / 14) + std::log(1.0 / 14)) / 4);
  EXPECT_EQ(trivial_predictor({{0, 6}}, {}, 5).count, 0);
}

TEST(Trivial, OfTasks) {
  const Trivial images = open_task("shapetex10:train=40:test=30")->trivial();
  EXPECT_DOUBLE_EQ(images.accuracy, 0.1) << "ten even classes";
  EXPECT_DOUBLE_EQ(images.loss, std::log(10.0));
  EXPECT_EQ(images.count, 30);
  const auto text = open_task("hmm:tokens=20000:test=1001", 10);
  EXPECT_EQ(text->trivial().count, 1000);
  EXPECT_GT(text->trivial().loss, text->loss_floor() + 0.5) << "frequencies of words are far above the floor";
  EXPECT_LT(text->trivial().loss, std::log(400.0)) << "frequencies of words are better than equal ones";
  EXPECT_EQ(open_task("keywords:train=40:test=20")->trivial().accuracy, 0.1);
}

}  // namespace split_test
}  // namespace gradcomp::data
