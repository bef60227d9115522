#include "gradcomp/nn/conv3x3.hpp"

#include "unit/nn/support.hpp"

namespace gradcomp::nn {
namespace {

using test::OwnedMaps;
using test::random_vector;

/// Channels and extents: multiples of a vector and of no vector, tiles of every width (15 = 6 + 4 + 4 + 1 and so on),
/// input channels in several blocks; F(2, 3) in several strips, with tiles of one row and of several.
struct Case {
  int height, width, ci, co, stride;
};

constexpr Case cases[] = {{4, 6, 3, 16, 1},   {6, 10, 16, 16, 1}, {3, 15, 8, 64, 1},  {8, 8, 64, 64, 1},
                          {8, 12, 16, 32, 2}, {2, 2, 32, 64, 2},  {4, 4, 5, 7, 1},    {4, 4, 3, 6, 2},
                          {2, 300, 3, 16, 1}, {4, 4, 128, 32, 1}, {4, 6, 192, 16, 2}, {20, 32, 16, 16, 1},
                          {4, 4, 16, 48, 1},  {6, 8, 48, 32, 1},  {6, 64, 16, 16, 1}};

/// Everything that the three convolutions of a case read and write.
template <class T>
struct Problem {
  explicit Problem(const Case& c, int images = 2)
      : shape(c),
        x(images, c.height, c.width, c.ci, 1),
        z(images, c.height / c.stride, c.width / c.stride, c.co, 0),
        dz(images, c.height / c.stride, c.width / c.stride, c.co, 1),
        dx(images, c.height, c.width, c.ci, 0),
        before(images, c.height, c.width, c.ci, 0),
        far(images, c.height / c.stride, c.width / c.stride, c.stride * c.ci, 0),
        weights(random_vector<T>(9 * c.ci * c.co, 1)),
        gradient("gradient", 9 * c.ci * c.co),
        mean(random_vector<T>(c.ci, 2)),
        sums("sums", 2 * images * c.co),
        dx_sums("sums", 2 * images * c.ci) {
    workspace.reserve(images, c.height / c.stride * c.width / c.stride, 9 * c.ci * c.co);
    x.random(3);
    dz.random(4);
    before.random(5);
    far.random(6);
  }

  ReluBackward<T> behind() const { return {x.maps, before.maps, mean, dx_sums, far.maps, shape.stride}; }
  void forward(Path path) {
    conv3x3_forward<T>(Exec(), x.maps, weights, shape.stride, z.maps, sums, workspace, path);
    Exec().fence();
  }
  void backward(Path path) {
    conv3x3_backward_weights<T>(Exec(), x.maps, dz.maps, shape.stride, gradient, workspace, path);
    conv3x3_backward_data<T>(Exec(), dz.maps, weights, shape.stride, behind(), dx.maps, workspace, path);
    Exec().fence();
  }

  Case shape;
  OwnedMaps<T> x, z, dz, dx, before, far;
  Vector<T> weights, gradient, mean;
  Vector<double> sums, dx_sums;
  ConvWorkspace<T> workspace;
};

TEST(Conv3x3, GradientsAgreeWithDifferences) {
  for (const Case& c : cases) {
    for (const Path path : {Path::best, Path::portable}) {
      Problem<double> p(c);
      // the loss that has dz and the shortcut's gradient as its derivatives
      const index_t padding = (c.stride * c.ci - c.ci) / 2;
      const auto loss = [&] {
        p.forward(path);
        double sum = test::dot(p.z, p.dz, p.z.maps.count());
        for (index_t i = 0; i < p.far.maps.count(); ++i) {
          const Site site(p.far.maps, i);
          const index_t from = site.channel - padding;
          if (from < 0 || from >= c.ci) continue;
          sum += p.far(i) * p.x.maps.at(site.image, site.row * c.stride, site.column * c.stride)[from];
        }
        return sum;
      };
      p.backward(path);
      const double h = 0.5;  // the loss is linear in each argument: a wide step has no error but rounding
      test::expect_gradient(p.weights, p.gradient, p.weights.extent(0), loss, "weight", h);
      const index_t count = p.dx.maps.count();
      for (index_t i = 0; i < count; i += std::max<index_t>(1, count / 25)) {
        const double expected = p.x(i) > 0 ? test::central_difference(p.x(i), loss, h) : 0.0;
        ASSERT_NEAR(p.dx(i), expected, 1e-7 * (1 + std::abs(expected))) << "input element " << i;
      }
    }
  }
}

TEST(Conv3x3, SumsAreThoseOfTheResult) {
  for (const Case& c : cases) {
    for (const Path path : {Path::best, Path::portable}) {
      Problem<double> p(c);
      p.forward(path);
      p.backward(path);
      Vector<double> moments("", p.sums.extent(0)), products("", p.dx_sums.extent(0));
      for (index_t i = 0; i < p.z.maps.count(); ++i) {
        const Site site(p.z.maps, i);
        moments(2 * site.image * c.co + site.channel) += p.z(i);
        moments((2 * site.image + 1) * c.co + site.channel) += p.z(i) * p.z(i);
      }
      for (index_t i = 0; i < p.dx.maps.count(); ++i) {
        const Site site(p.dx.maps, i);
        products(2 * site.image * c.ci + site.channel) += p.dx(i);
        products((2 * site.image + 1) * c.ci + site.channel) += p.dx(i) * (p.before(i) - p.mean(site.channel));
      }
      EXPECT_LT(test::relative_difference(p.sums, moments, moments.extent(0)), 1e-12);
      EXPECT_LT(test::relative_difference(p.dx_sums, products, products.extent(0)), 1e-12);
    }
  }
}

TEST(Conv3x3, HostKernelsAgreeWithPortableOnes) {
  for (const Case& c : cases) {
    Problem<float> host(c, 19), portable(c, 19);  // 19 images: two whole chunks and a part of one
    host.forward(Path::best);
    host.backward(Path::best);
    portable.forward(Path::portable);
    portable.backward(Path::portable);
    EXPECT_LT(test::relative_difference(host.z, portable.z, host.z.maps.count()), 1e-5);
    EXPECT_LT(test::relative_difference(host.dx, portable.dx, host.dx.maps.count()), 1e-5);
    EXPECT_LT(test::relative_difference(host.gradient, portable.gradient, host.gradient.extent(0)), 1e-5);
    EXPECT_LT(test::relative_difference(host.sums, portable.sums, host.sums.extent(0)), 1e-5);
    EXPECT_LT(test::relative_difference(host.dx_sums, portable.dx_sums, host.dx_sums.extent(0)), 1e-5);
  }
}

TEST(Conv3x3, HeavyWeightsAreSummedInFewerChunks) {
  EXPECT_EQ(images_per_chunk(1024, 9 * 64 * 64), 8);
  EXPECT_EQ(images_per_chunk(64, 9 * 512 * 512), 8);
  EXPECT_EQ(images_per_chunk(16, 9 * 512 * 512), 32);
  EXPECT_EQ(images_per_chunk(4, 9 * 512 * 512), 64);
  const Case heavy{1, 2, 256, 512, 1};
  Problem<float> host(heavy, 70), portable(heavy, 70);  // a whole chunk and a part of one
  host.backward(Path::best);
  portable.backward(Path::portable);
  EXPECT_LT(test::relative_difference(host.gradient, portable.gradient, host.gradient.extent(0)), 1e-5);
  EXPECT_LT(test::relative_difference(host.dx, portable.dx, host.dx.maps.count()), 1e-5);
}

}  // namespace
}  // namespace gradcomp::nn
