#include "gradcomp/data/generated/shapetex.hpp"

#include <gtest/gtest.h>

#include <array>

#include "gradcomp/data/files.hpp"

namespace gradcomp::data {
namespace shapetex_test {

TEST(ShapeTex, GoldenChecksum) {
  // The value is the same with gcc 14 at -O0, -O2, -O3, -march=native and x86-64-v3, with and without fused
  // multiply-add. Another value means that every published accuracy changes. Such a change needs another name of the
  // task.
  ImageData data = open_dataset("shapetex10:train=2000:test=500");
  EXPECT_EQ(data.crc, "fcbba7f3");
  data.validation = {};
  describe(data);
  EXPECT_EQ(data.crc, "a8f89040") << "training and test set alone";
}

TEST(ShapeTex, ThreadsDoNotMatter) {
  const ShapeTexOptions options;
  const ImageData data = make_shapetex(ShapeTexOptions::parse("train=300:test=50"));
  std::vector<std::uint8_t> image(3072);
  for (index_t i = 0; i < 300; ++i) {
    render_shapetex(options, Split::train, i, image.data());
    ASSERT_TRUE(std::equal(image.begin(), image.end(), data.train.image(i))) << i;
  }
  render_shapetex(options, Split::test, 7, image.data());
  EXPECT_TRUE(std::equal(image.begin(), image.end(), data.test.image(7)));
}

TEST(ShapeTex, ClassesAreBalancedAndSetsDiffer) {
  const ImageData data = make_shapetex(ShapeTexOptions::parse("train=200:test=100"));
  std::array<int, 10> count{};
  for (const std::uint8_t label : data.train.labels) ++count.at(label);
  for (const int c : count) EXPECT_EQ(c, 20);
  EXPECT_FALSE(std::equal(data.test.pixels.begin(), data.test.pixels.end(), data.train.pixels.begin()));
  EXPECT_EQ(data.train.count(), 200);
  EXPECT_EQ(data.train.image_size(), 3072);
}

TEST(ShapeTex, EasyImagesAreTheShareThatTheDialSays) {
  const auto options = ShapeTexOptions::parse("easy=0.75:noise=0.3");
  EXPECT_NE(options.canonical().find(":easy=0.75"), std::string::npos);
  EXPECT_EQ(ShapeTexOptions::parse("").canonical().find("easy"), std::string::npos)
      << "results existed before this dial";
  ShapeTexOptions hard = options, plain;
  hard.easy = 0;
  plain = hard;
  plain.noise = plain.rotation = plain.shift = 0;
  plain.small = plain.large;
  plain.lines = 0;
  plain.hue = plain.texture = 1;
  std::vector<std::uint8_t> image(3072), reference(3072);
  int easy = 0;
  for (index_t i = 0; i < 400; ++i) {
    const bool is = is_easy(options, Split::train, i);
    easy += is ? 1 : 0;
    render_shapetex(options, Split::train, i, image.data());
    render_shapetex(is ? plain : hard, Split::train, i, reference.data());
    ASSERT_EQ(image, reference) << i;
    EXPECT_FALSE(is_easy(hard, Split::train, i));
  }
  EXPECT_NEAR(easy, 300, 35);  // four deviations of 8.7
}

TEST(ShapeTex, DialsChangeImagesAndAreRecorded) {
  const ShapeTexOptions base;
  std::vector<std::uint8_t> reference(3072), image(3072);
  render_shapetex(base, Split::train, 3, reference.data());
  for (const char* dial : {"seed=2", "noise=0.2", "rotation=0.5", "shift=1", "small=5", "large=13", "contrast=0.2",
                           "clutter=0.5", "hue=1", "texture=0"}) {
    const auto options = ShapeTexOptions::parse(dial);
    bool changed = false;
    for (index_t i = 0; i < 20 && !changed; ++i) {
      render_shapetex(base, Split::train, i, reference.data());
      render_shapetex(options, Split::train, i, image.data());
      changed = image != reference;
    }
    EXPECT_TRUE(changed) << dial;
    EXPECT_NE(options.canonical().find(dial), std::string::npos) << options.canonical();
  }
  const auto text = ShapeTexOptions::parse("").canonical();
  EXPECT_EQ(ShapeTexOptions::parse(text.substr(text.find(':') + 1)).canonical(), text);
}

TEST(ShapeTex, ExtremesOfTheDialsRender) {
  std::vector<std::uint8_t> image(3072);
  for (const char* dials : {"noise=1:shift=12:rotation=1:small=2:large=2:clutter=4:lines=16:contrast=0.5",
                            "noise=0:shift=0:rotation=0:small=16:large=16:clutter=0:lines=0:contrast=0.02"}) {
    const auto options = ShapeTexOptions::parse(dials);
    for (index_t i = 0; i < 20; ++i) EXPECT_NO_THROW(render_shapetex(options, Split::test, i, image.data()));
  }
}

}  // namespace shapetex_test
}  // namespace gradcomp::data
