// Shapes of models: those of networks that train here, and the published counts of other models.
#include "gradcomp/nn/networks/shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "error_of.hpp"
#include "gradcomp/nn/make_model.hpp"

namespace gradcomp::nn {
namespace shapes_test {

using gradcomp::test::error_of;

TEST(ModelShapes, AreThoseOfTheNetworksThatTrain) {
  for (const auto& name : shape_names()) {
    ASSERT_EQ(std::ranges::count(model_names(), name), 1) << name;
    const bool text = name.starts_with("lstm");  // its shapes have the vocabulary of WikiText-2
    const InputShape words{InputShape::Kind::tokens, 0, 0, 0, 1, 0, 28869};
    const auto model = make_model<float>(name, text ? words : InputShape::of_images(32, 32, 10), 1);
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
  index_t parameters, tensors, matrices, rows, columns;  ///< rows, columns: sums over the matrices
};

/// Parameters of table 1, column A: convolutions, two parameters of batch norm per channel, layers of 512-4096-4096-10.
constexpr index_t vgg11_parameters = 9 * (3 * 64 + 64 * 128 + 128 * 256 + 256 * 256 + 256 * 512 + 3 * 512 * 512) +
                                     2 * 2752 + (512 * 4096 + 4096 * 4096 + 4096 * 10) + (4096 + 4096 + 10);

TEST(ModelShapes, HaveThePublishedCounts) {
  // Vogels et al. 2019, appendix. Rows and columns are exchanged, because our convolutions are inputs x outputs.
  for (const Counts& expected :
       {Counts{"resnet20", 269722, 59, 20, 5707, 698}, Counts{"resnet20_b", 272474, 65, 22, 5755, 794},
        Counts{"resnet18", 11173962, 62, 21, 31515, 4810},
        Counts{"vgg11", vgg11_parameters, 30, 11, 9 * 2243 + 512 + 2 * 4096, 2752 + 8202},
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

TEST(ModelShapes, DepthsAreThoseOfThePaper) {
  // He et al. 2016, table 6: 0.27M, 0.46M, 0.66M, 0.85M and 1.7M parameters
  for (const auto& [name, millions] :
       {std::pair{"resnet20", 0.27}, {"resnet32", 0.46}, {"resnet44", 0.66}, {"resnet56", 0.85}, {"resnet110", 1.73}}) {
    EXPECT_NEAR(1e-6 * static_cast<double>(model_shapes(name).count()), millions, 0.005) << name;
    const std::string with_projections = std::string(name) + "_b";
    EXPECT_EQ(model_shapes(with_projections).count() - model_shapes(name).count(), 272474 - 269722);
  }
}

TEST(ModelShapes, UnknownNamesAreRefused) {
  const std::string known =
      "resnet8, resnet20, resnet32, resnet44, resnet56, resnet110, resnet8_b, resnet20_b, resnet32_b, resnet44_b, "
      "resnet56_b, resnet110_b, resnet18, vgg11";
  EXPECT_EQ(error_of([] { model_shapes("vgg"); }), "unknown model 'vgg'; allowed: " + known + ", lstm_3x650");
  EXPECT_EQ(error_of([] { make_model<float>("lstm_3x650", 32, 32, 1); }),
            "model 'lstm_3x650' takes tokens, but the data are images");
}

}  // namespace shapes_test
}  // namespace gradcomp::nn
