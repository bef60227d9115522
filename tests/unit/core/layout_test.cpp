#include "gradcomp/core/layout.hpp"

#include <gtest/gtest.h>

#include "error_of.hpp"

namespace gradcomp {
namespace layout_test {

Layout example() {
  return Layout{}.add("conv", {3, 3, 4, 8}).add("bias", {8}).add("empty", {0, 7}).add("scalar", {}).add("fc", {5, 2});
}

TEST(Layout, SegmentsCoverTheGradientInOrder) {
  const Layout layout = example();
  EXPECT_EQ(layout.count(), 288 + 8 + 0 + 1 + 10);
  index_t offset = 0;
  for (std::size_t i = 0; i < layout.segments.size(); ++i) {
    EXPECT_EQ(layout.segments[i].id, static_cast<index_t>(i));
    EXPECT_EQ(layout.segments[i].offset, offset);
    offset += layout.segments[i].count;
  }
  EXPECT_EQ(offset, layout.count());
}

TEST(Layout, RefusesMoreElementsThanCanBeCounted) {
  const index_t most = index_t{1} << 50;
  EXPECT_EQ((Layout{}.add("a", {most}).count()), most);
  for (const std::vector<index_t>& shape : {std::vector<index_t>{index_t{1} << 32, index_t{1} << 32},
                                            {index_t{1} << 62, 4},
                                            {most + 1},
                                            {INT64_MAX},
                                            {-1}}) {
    EXPECT_NE(test::error_of([&] { Layout{}.add("a", shape); }), "");
  }
  EXPECT_EQ(test::error_of([&] { Layout{}.add("a", {2, index_t{1} << 62}); }),
            "tensor 'a' has the shape 2x4611686018427387904; allowed: up to 2^50 elements");
  EXPECT_EQ(test::error_of([&] { Layout{}.add("a", {most - 1}).add("b", {2}); }),
            "the tensors up to 'b' have 1125899906842623 + 2 elements; allowed: up to 2^50 in all");
}

TEST(Layout, MatrixViewTakesTheLastExtentAsColumns) {
  const Layout layout = example();
  EXPECT_TRUE(layout.segments[0].is_matrix());
  EXPECT_EQ(layout.segments[0].rows(), 36);
  EXPECT_EQ(layout.segments[0].columns(), 8);
  EXPECT_FALSE(layout.segments[1].is_matrix());
  EXPECT_FALSE(layout.segments[3].is_matrix());
  EXPECT_EQ(layout.segments[2].rows(), 0);
  EXPECT_EQ((Layout{}.add("none", {4, 0}).segments[0].rows()), 0);
}

TEST(Layout, SliceKeepsIdsAndMovesOffsets) {
  const Layout part = example().slice(1, 4);
  ASSERT_EQ(part.segments.size(), 3u);
  EXPECT_EQ(part.segments[0].id, 1);
  EXPECT_EQ(part.segments[0].offset, 0);
  EXPECT_EQ(part.segments[2].name, "scalar");
  EXPECT_EQ(part.segments[2].offset, 8);
  EXPECT_EQ(part.count(), 9);
  EXPECT_EQ(example().slice(2, 2).count(), 0);
}

TEST(Layout, TextNamesShapesAndTheOrderOfOutputs) {
  EXPECT_EQ(example().add("embedding", {9, 4}, true).text(),
            "conv 3x3x4x8\nbias 8\nempty 0x7\nscalar\nfc 5x2\nembedding 9x4 outputs-first\n");
  EXPECT_EQ(Layout{}.text(), "");
}

TEST(Layout, FusedIsOneVectorWithTheFirstId) {
  const Layout bucket = example().slice(3, 5).fused();
  ASSERT_EQ(bucket.segments.size(), 1u);
  EXPECT_EQ(bucket.segments[0].id, 3);
  EXPECT_EQ(bucket.segments[0].shape, std::vector<index_t>{11});
  EXPECT_EQ(bucket.count(), 11);
  EXPECT_EQ(Layout{}.fused().count(), 0);
  EXPECT_EQ(Layout::flat(0).count(), 0);
}

}  // namespace layout_test
}  // namespace gradcomp
