// Shapes of models: those of the networks that train here, and the published counts of the others.
#include "gradcomp/nn/shapes.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "gradcomp/core/error.hpp"
#include "gradcomp/nn/model.hpp"

namespace gradcomp::nn {
namespace {

TEST(ModelShapes, AreThoseOfTheNetworksThatTrain) {
  for (const auto& name : model_names()) {
    const auto model = make_model<float>(name, 4, 4, 1);
    const Layout shapes = model_shapes(name), &built = model->layout();
    ASSERT_EQ(shapes.segments.size(), built.segments.size()) << name;
    for (std::size_t s = 0; s < shapes.segments.size(); ++s) {
      EXPECT_EQ(shapes.segments[s].name, built.segments[s].name);
      EXPECT_EQ(shapes.segments[s].shape, built.segments[s].shape) << name << " " << shapes.segments[s].name;
    }
  }
}

struct Counts {
  const char* name;
  index_t parameters, tensors, matrices, rows, columns;  ///< sums of the matrices' extents
};

TEST(ModelShapes, HaveThePublishedCounts) {
  // Vogels et al. 2019, appendix; rows and columns change places in our convolutions, inputs x outputs
  for (const Counts& expected :
       {Counts{"resnet20", 269722, 59, 20, 5707, 698}, Counts{"resnet20_b", 272474, 65, 22, 5755, 794},
        Counts{"resnet18", 11173962, 62, 21, 31515, 4810},
        Counts{"lstm_3x650", 28949319, 14, 7, 28869 + 6 * 650, 650 + 6 * 2600}}) {
    const Layout layout = model_shapes(expected.name);
    Counts found{expected.name, layout.count(), static_cast<index_t>(layout.segments.size()), 0, 0, 0};
    for (const auto& segment : layout.segments) {
      if (!segment.is_matrix()) continue;
      ++found.matrices;
      found.rows += segment.rows();
      found.columns += segment.columns();
    }
    EXPECT_EQ(found.parameters, expected.parameters) << expected.name;
    EXPECT_EQ(found.tensors, expected.tensors) << expected.name;
    EXPECT_EQ(found.matrices, expected.matrices) << expected.name;
    EXPECT_EQ(found.rows, expected.rows) << expected.name;
    EXPECT_EQ(found.columns, expected.columns) << expected.name;
  }
}

TEST(ModelShapes, UnknownNamesAreRefused) {
  try {
    model_shapes("vgg");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "unknown model 'vgg': allowed are resnet8, resnet20, resnet32, resnet44, resnet56, resnet20_b, "
                 "resnet18, lstm_3x650");
  }
}

TEST(ModelShapes, DoNotTrain) {
  try {
    make_model<float>("lstm_3x650", 32, 32, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "model 'lstm_3x650' has shapes to describe, but does not train: allowed are resnet8, resnet20, "
                 "resnet32, resnet44, resnet56");
  }
}

}  // namespace
}  // namespace gradcomp::nn
