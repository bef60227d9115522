// Maximum pooling, the gradient between a linear layer and maps, and the projection of option B.
#include "gradcomp/nn/layers/pool.hpp"

#include <limits>

#include "gradcomp/nn/convolution/projection.hpp"
#include "gradcomp/nn/layers/image_sums.hpp"
#include "gradcomp/nn/layers/image_sums_device.hpp"
#include "unit/nn/support.hpp"

namespace gradcomp::nn {
namespace {

using test::Mirrored;
using test::OwnedMaps;
using test::random_vector;

TEST(ImageSums, AreThoseOfEachImage) {
  for (const int channels : {1, 3, 8, 21, 48}) {
    OwnedMaps<double> a(3, 4, 5, channels, 1), b(3, 4, 5, channels, 0);
    a.random(1);
    b.random(2);
    const auto mean = random_vector<double>(channels, 3);
    for (const bool centred : {false, true}) {
      const Mirrored<double> expected(6 * channels);
      for (index_t i = 0; i < a.count(); ++i) {
        const Site site(a.shape, i);
        const index_t at = 2 * site.image * channels + site.channel;
        expected(at) += a(i);
        expected(at + channels) += a(i) * (b(i) - (centred ? mean(site.channel) : 0));
      }
      const Span<const double> centre = centred ? Span<const double>(mean) : Span<const double>();
      for (const Path path : {Path::best, Path::device, Path::portable}) {
        const Mirrored<double> sums(6 * channels);
        image_sums<double>(Exec(), a.in(), b.in(), centre, sums, path);
        EXPECT_LT(test::relative_difference(sums, expected, 6 * channels), 1e-13) << channels;
      }
      if (channels != 3 || Exec().concurrency() < 2) continue;  // barriers are slow if threads share a core
      const Mirrored<double> by_teams(6 * channels);
      device::image_sums<double, 2>(Exec(), a.in(), b.in(), centre, by_teams);
      EXPECT_LT(test::relative_difference(by_teams, expected, 6 * channels), 1e-13) << channels;
    }
  }
}

TEST(MaxPool, TakesTheFirstMaximumAndItsConvolutionResult) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float squares[][4] = {{1, 2, 3, 4}, {4, 3, 2, 1},     {5, 5, 5, 5},   {0, 7, 7, 0},
                              {0, 0, 0, 0}, {1, nan, 3, nan}, {nan, 9, 9, 9}, {-2, -1, -3, -4}};
  const int place[] = {3, 0, 0, 1, 0, 1, 0, 1};
  OwnedMaps<float> x(2, 4, 4, 1, 0), z(2, 4, 4, 1, 0), g(2, 2, 2, 1, 0), dx(2, 4, 4, 1, 0);
  OwnedMaps<float> pooled(2, 2, 2, 1, 1), pooled_z(2, 2, 2, 1, 0);
  dx.fill(99);
  for (int s = 0; s < 8; ++s) {
    for (int p = 0; p < 4; ++p) {
      const int row = 2 * (s / 2 % 2) + p / 2, column = 2 * (s % 2) + p % 2;
      *x.at(s / 4, row, column) = squares[s][p];
      *z.at(s / 4, row, column) = static_cast<float>(10 * s + p);
    }
    g(s) = static_cast<float>(s + 1);
  }
  max_pool<float>(Exec(), x.in(), z.in(), pooled.out(), pooled_z.out());
  max_pool_backward<float>(Exec(), x.in(), g.in(), dx.out());
  for (int s = 0; s < 8; ++s) {
    const float expected = squares[s][place[s]];
    EXPECT_TRUE(pooled(s) == expected || (expected != expected && pooled(s) != pooled(s))) << s;
    EXPECT_EQ(pooled_z(s), static_cast<float>(10 * s + place[s])) << s;
    for (int p = 0; p < 4; ++p) {
      const int row = 2 * (s / 2 % 2) + p / 2, column = 2 * (s % 2) + p % 2;
      EXPECT_EQ(*dx.at(s / 4, row, column), p == place[s] ? g(s) : 0.0f) << s;
    }
  }
}

TEST(FlattenBackward, MasksAndSums) {
  OwnedMaps<double> gradient(3, 2, 3, 5, 0), activation(3, 2, 3, 5, 0), z(3, 2, 3, 5, 0), dx(3, 2, 3, 5, 0);
  gradient.random(1);
  activation.random(2);
  z.random(3);
  const auto mean = random_vector<double>(5, 4);
  for (const Path path : {Path::best, Path::portable}) {
    const Mirrored<double> sums(30), expected(30);
    flatten_backward<double>(Exec(), gradient.in(), {activation.in(), z.in(), mean, sums, {}, 1}, dx.out(), path);
    for (index_t i = 0; i < dx.count(); ++i) {
      const Site site(dx.shape, i);
      const double g = activation(i) > 0 ? gradient(i) : 0;
      EXPECT_EQ(dx(i), g);
      expected(10 * site.image + site.channel) += g;
      expected(10 * site.image + 5 + site.channel) += g * (z(i) - mean(site.channel));
    }
    EXPECT_LT(test::relative_difference(sums, expected, 30), 1e-13);
  }
}

TEST(Projection, GradientsAgreeWithDifferences) {
  const ConvSpec spec{.conv = "conv", .norm = "bn", .extent = 1, .in = 5, .out = 9, .stride = 2, .projection = true};
  const int images = 3, height = 4, width = 6;
  for (const Path path : {Path::best, Path::portable}) {
    Layout layout;
    index_t buffer_count = 0;
    const Projection<double> projection(layout, buffer_count, spec, images, height, width);
    UnitWorkspace<double> workspace;
    projection.reserve(workspace, images);
    ASSERT_EQ(buffer_count, 18);
    ASSERT_EQ(layout.count(), 45 + 18);
    const auto parameters = random_vector<double>(layout.count(), 1);
    const Mirrored<double> buffers(buffer_count), gradient(layout.count());
    OwnedMaps<double> x(images, height, width, 5, 1), weight(images, height / 2, width / 2, 9, 0);
    x.random(2);
    weight.random(3);
    const auto loss = [&] {
      const auto out = projection.forward(Exec(), x.in(), parameters, buffers, true, workspace, path);
      return test::dot(test::host_copy(out.data, out.count()), weight, out.count());
    };
    loss();
    const Maps<const double> device_dx =
        projection.backward(Exec(), weight.in(), parameters, gradient, workspace, path);
    const auto dx = test::host_copy(device_dx.data, device_dx.count());
    OwnedMaps<double> full(images, height, width, 5, 0);
    for (index_t i = 0; i < full.count(); ++i) {
      const Site site(full.shape, i);
      const bool sampled = site.row % 2 == 0 && site.column % 2 == 0;
      const index_t pixel = (index_t(site.image) * height / 2 + site.row / 2) * width / 2 + site.column / 2;
      full(i) = sampled ? dx(5 * pixel + site.channel) : 0;
    }
    test::expect_gradient(parameters, gradient, layout.count(), loss, "parameter");
    test::expect_gradient(x, full, full.count(), loss, "x");
  }
}

}  // namespace
}  // namespace gradcomp::nn
