#include "gradcomp/nn/convolution/conv3x3.hpp"

#include "gradcomp/nn/convolution/conv3x3_gemm.hpp"
#include "unit/nn/support.hpp"

namespace gradcomp::nn {
namespace conv3x3_test {

using test::Mirrored;
using test::OwnedMaps;
using test::random_vector;

/// Channels and extents: multiples of the vector width and other numbers, tiles of every width (such as 15 = 6 + 4 + 4
/// + 1), input channels in several blocks, and Winograd's F(2, 3) in several strips, with tiles of one row and of
/// several rows.
struct Case {
  int height, width, ci, co, stride;
};

constexpr Case cases[] = {{4, 6, 3, 16, 1},   {6, 10, 16, 16, 1}, {3, 15, 8, 64, 1},  {8, 8, 64, 64, 1},
                          {8, 12, 16, 32, 2}, {2, 2, 32, 64, 2},  {4, 4, 5, 7, 1},    {4, 4, 3, 6, 2},
                          {2, 300, 3, 16, 1}, {4, 4, 128, 32, 1}, {4, 6, 192, 16, 2}, {20, 32, 16, 16, 1},
                          {4, 4, 16, 48, 1},  {6, 8, 48, 32, 1},  {6, 64, 16, 16, 1}, {5, 7, 2, 3, 1},
                          {1, 1, 1, 1, 1}};

constexpr Path all[] = {Path::best, Path::device, Path::portable};

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
        gradient(9 * c.ci * c.co),
        mean(random_vector<T>(c.ci, 2)),
        sums(2 * images * c.co),
        dx_sums(2 * images * c.ci) {
    for (const Path path : all) workspace.reserve(images, z.shape.height * z.shape.width, c.ci, c.co, path);
    x.random(3);
    dz.random(4);
    before.random(5);
    far.random(6);
  }

  ReluBackward<T> behind() const { return {x.in(), before.in(), mean, dx_sums, far.in(), shape.stride}; }
  void forward(Path path) { conv3x3_forward<T>(Exec(), x.in(), weights, shape.stride, z.out(), sums, workspace, path); }
  void backward(Path path) {
    conv3x3_backward_weights<T>(Exec(), x.in(), dz.in(), shape.stride, gradient, workspace, path);
    conv3x3_backward_data<T>(Exec(), dz.in(), weights, shape.stride, behind(), dx.out(), workspace, path);
  }

  Case shape;
  OwnedMaps<T> x, z, dz, dx, before, far;
  Mirrored<T> weights, gradient, mean;
  Mirrored<double> sums, dx_sums;
  ConvWorkspace<T> workspace;
};

TEST(Conv3x3, GradientsAgreeWithDifferences) {
  for (const Case& c : cases) {
    for (const Path path : all) {
      Problem<double> p(c);
      // a loss whose derivatives are dz and the gradient of the shortcut
      const index_t padding = (c.stride * c.ci - c.ci) / 2;
      const auto loss = [&] {
        p.forward(path);
        double sum = test::dot(p.z, p.dz, p.z.count());
        for (index_t i = 0; i < p.far.count(); ++i) {
          const Site site(p.far.shape, i);
          const index_t from = site.channel - padding;
          if (from < 0 || from >= c.ci) continue;
          sum += p.far(i) * p.x.at(site.image, site.row * c.stride, site.column * c.stride)[from];
        }
        return sum;
      };
      p.backward(path);
      const double h = 0.5;  // the loss is linear in each argument, so that a wide step has only rounding errors
      test::expect_gradient(p.weights, p.gradient, 9 * c.ci * c.co, loss, "weight", h);
      const index_t count = p.dx.count();
      for (index_t i = 0; i < count; i += std::max<index_t>(1, count / 25)) {
        const double expected = p.x(i) > 0 ? test::central_difference(p.x(i), loss, h) : 0.0;
        ASSERT_NEAR(p.dx(i), expected, 1e-7 * (1 + std::abs(expected))) << "input element " << i;
      }
    }
  }
}

TEST(Conv3x3, SumsAreThoseOfTheResult) {
  for (const Case& c : cases) {
    for (const Path path : all) {
      Problem<double> p(c);
      p.forward(path);
      p.backward(path);
      const Mirrored<double> moments(2 * p.z.shape.images * c.co), products(2 * p.z.shape.images * c.ci);
      for (index_t i = 0; i < p.z.count(); ++i) {
        const Site site(p.z.shape, i);
        moments(2 * site.image * c.co + site.channel) += p.z(i);
        moments((2 * site.image + 1) * c.co + site.channel) += p.z(i) * p.z(i);
      }
      for (index_t i = 0; i < p.dx.count(); ++i) {
        const Site site(p.dx.shape, i);
        products(2 * site.image * c.ci + site.channel) += p.dx(i);
        products((2 * site.image + 1) * c.ci + site.channel) += p.dx(i) * (p.before(i) - p.mean(site.channel));
      }
      EXPECT_LT(test::relative_difference(p.sums, moments, 2 * p.z.shape.images * c.co), 1e-12);
      EXPECT_LT(test::relative_difference(p.dx_sums, products, 2 * p.z.shape.images * c.ci), 1e-12);
    }
  }
}

template <class T>
void expect_agreement(const Case& c, int images, double tolerance) {
  SCOPED_TRACE(testing::Message() << c.height << " x " << c.width << ", " << c.ci << " to " << c.co
                                  << " channels, stride " << c.stride << ", " << images << " images");
  Problem<T> portable(c, images);
  portable.forward(Path::portable);
  portable.backward(Path::portable);
  for (const Path path : {Path::best, Path::device}) {
    Problem<T> other(c, images);
    other.gradient.fill(T(99));
    other.forward(path);
    other.backward(path);
    const auto expect_near = [&](const auto& a, const auto& b, index_t count) {
      EXPECT_LT(test::relative_difference(a, b, count), tolerance) << static_cast<int>(path);
    };
    expect_near(other.z, portable.z, other.z.count());
    expect_near(other.dx, portable.dx, other.dx.count());
    expect_near(other.gradient, portable.gradient, 9 * c.ci * c.co);
    expect_near(other.sums, portable.sums, 2 * images * c.co);
    expect_near(other.dx_sums, portable.dx_sums, 2 * images * c.ci);
  }
}

TEST(Conv3x3, EveryPathAgreesWithThePortableOne) {
  for (const Case& c : cases) {
    expect_agreement<float>(c, 19, 1e-5);  // 19 images are two whole chunks and a part of one
    expect_agreement<double>(c, 1, 1e-13);
  }
}

TEST(Conv3x3, OfNoImagesTheGradientIsZero) {
  for (const Path path : all) {
    Problem<float> p({4, 6, 3, 16, 1}, 0);
    p.gradient.fill(99);
    p.forward(path);
    p.backward(path);
    for (const float value : p.gradient.now()) ASSERT_EQ(value, 0) << static_cast<int>(path);
  }
}

TEST(Conv3x3, DevicesTakeSomeImagesAtATimeInOrder) {
  const Case c{20, 32, 16, 16, 1};
  const int together = device::images_per_pass(c.height * c.width, c.ci);
  if (device_is_host) {
    ASSERT_GT(together, 1);
    ASSERT_LT(together, 10) << "19 images must be several passes";
  }
  EXPECT_EQ(device::images_per_pass(index_t{1} << 20, 512), 1) << "one image that exceeds the limit";
  Problem<float> first(c, 19), second(c, 19);
  second.workspace.columns = Vector<float>("larger", 2 * second.workspace.columns.size());  // the size must not matter
  for (Problem<float>* p : {&first, &second}) p->backward(Path::device);
  EXPECT_TRUE(test::same_bits(first.gradient, second.gradient));
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
  EXPECT_LT(test::relative_difference(host.gradient, portable.gradient, 9 * 256 * 512), 1e-5);
  EXPECT_LT(test::relative_difference(host.dx, portable.dx, host.dx.count()), 1e-5);
}

}  // namespace conv3x3_test
}  // namespace gradcomp::nn
