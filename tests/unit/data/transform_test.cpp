#include "gradcomp/data/transform.hpp"

#include <gtest/gtest.h>

#include <map>

#include "gradcomp/core/error.hpp"

namespace gradcomp::data {
namespace transform_test {

/// One image of 6 x 5 x 2 with pixels that are all different and not 0.
ImageData one_image() {
  ImageData data;
  data.train = {6, 5, 2, 3, {}, {2}};
  for (int i = 0; i < 60; ++i) data.train.pixels.push_back(static_cast<std::uint8_t>(i + 1));
  data.test = {6, 5, 2, 3, {}, {}};
  data.mean = {0.0F, 0.0F};
  data.std = {1.0F / 255.0F, 1.0F / 255.0F};  // with these, the output is the pixel itself
  return data;
}

std::vector<float> transformed(const ImageData& data, const Transform& transform, index_t epoch) {
  std::vector<float> out(60);
  std::vector<std::int32_t> labels(1);
  const std::vector<index_t> indices = {0};
  transform.fill(data.train, indices, epoch, out, labels);
  EXPECT_EQ(labels[0], 2);
  return out;
}

TEST(Transform, Normalises) {
  ImageData data = one_image();
  data.mean = {0.5F, 0.25F};
  data.std = {0.25F, 0.5F};
  const auto out = transformed(data, Transform(data), 0);
  for (int i = 0; i < 60; ++i) {
    const float pixel = static_cast<float>(i + 1) / 255.0F;
    EXPECT_NEAR(out[static_cast<std::size_t>(i)], i % 2 == 0 ? (pixel - 0.5F) / 0.25F : (pixel - 0.25F) / 0.5F, 1e-6F);
  }
}

/// The output that a crop must give for an offset and a mirror, by definition.
std::vector<float> cropped(index_t dy, index_t dx, bool mirror) {
  std::vector<float> out(60);
  for (index_t y = 0; y < 6; ++y)
    for (index_t x = 0; x < 5; ++x)
      for (index_t c = 0; c < 2; ++c) {
        const index_t sy = y + dy, sx = (mirror ? 4 - x : x) + dx;
        const bool inside = sy >= 0 && sy < 6 && sx >= 0 && sx < 5;
        out[static_cast<std::size_t>((y * 5 + x) * 2 + c)] =
            inside ? static_cast<float>((sy * 5 + sx) * 2 + c + 1) : 0.0F;
      }
  return out;
}

TEST(Transform, AugmentationIsEveryCropAndMirror) {
  const ImageData data = one_image();
  const Transform transform(data, {true, 2, 11});
  std::map<std::vector<float>, int> seen;
  for (index_t epoch = 0; epoch < 2000; ++epoch) {
    auto out = transformed(data, transform, epoch);
    for (float& v : out) v = std::round(v);
    ++seen[out];
  }
  EXPECT_EQ(seen.size(), 50U);
  for (index_t dy = -2; dy <= 2; ++dy)
    for (index_t dx = -2; dx <= 2; ++dx)
      for (const bool mirror : {false, true}) {
        EXPECT_NEAR(seen[cropped(dy, dx, mirror)], 40, 33) << dy << ' ' << dx << ' ' << mirror;
      }
}

TEST(Transform, AugmentationDependsOnSeedEpochAndSampleOnly) {
  const ImageData data = one_image();
  const Transform a(data, {true, 4, 1}), b(data, {true, 4, 1}), c(data, {true, 4, 2});
  int differs = 0;
  for (index_t epoch = 0; epoch < 20; ++epoch) {
    EXPECT_EQ(transformed(data, a, epoch), transformed(data, b, epoch));
    differs += transformed(data, a, epoch) != transformed(data, c, epoch) ? 1 : 0;
  }
  EXPECT_GT(differs, 15);
}

TEST(Transform, ChecksSizesAndSamples) {
  const ImageData data = one_image();
  const Transform transform(data);
  std::vector<float> out(60);
  std::vector<std::int32_t> labels(1);
  const std::vector<index_t> good = {0}, bad = {1}, two = {0, 0};
  EXPECT_THROW(transform.fill(data.train, bad, 0, out, labels), Error);
  EXPECT_THROW(transform.fill(data.train, two, 0, out, labels), Error);
  EXPECT_NO_THROW(transform.fill(data.train, good, 0, out, labels));
}

}  // namespace transform_test
}  // namespace gradcomp::data
