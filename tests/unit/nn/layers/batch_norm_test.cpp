#include "gradcomp/nn/layers/batch_norm.hpp"

#include <limits>

#include "gradcomp/nn/layers/batch_norm_device.hpp"
#include "unit/nn/support.hpp"

namespace gradcomp::nn {
namespace {

using test::Mirrored;
using test::OwnedMaps;
using test::random_vector;

/// A batch norm with a shortcut that halves the maps and doubles the channels, or without a shortcut.
template <class T>
struct Problem {
  static constexpr int images = 3, height = 4, width = 5;

  Problem(int channels, bool with_shortcut)
      : z(images, height, width, channels, 0),
        out(images, height, width, channels, 1),
        weight(images, height, width, channels, 0),
        g(images, height, width, channels, 0),
        dz(images, height, width, channels, 1),
        source(images, 2 * height, 2 * width, channels / 2, 1),
        gamma(random_vector<T>(channels, 1)),
        beta(random_vector<T>(channels, 2)),
        mean(channels),
        inverse(channels),
        running_mean(channels),
        running_variance(channels),
        gamma_gradient(channels),
        beta_gradient(channels),
        sums(2 * images * channels),
        has_shortcut(with_shortcut) {
    z.random(3);
    weight.random(4);
    source.random(5);
  }

  void forward(Path path) {
    sums.fill(0);
    for (index_t i = 0; i < z.count(); ++i) add_sums(i, z(i), double(z(i)) * z(i));
    batch_norm_statistics<T>(Exec(), sums, images, height * width, running_mean, running_variance, statistics(), path);
    batch_norm_apply<T>(Exec(), z.in(), statistics(), gamma, beta, shortcut(), activation, out.out(), path);
  }

  /// Value of the loss, which is the sum of weight x out.
  void backward(Path path) {
    sums.fill(0);
    for (index_t i = 0; i < z.count(); ++i) {
      g(i) = out(i) > 0 ? weight(i) : T(0);
      add_sums(i, g(i), g(i) * (double(z(i)) - mean(Site(z.shape, i).channel)));
    }
    batch_norm_parameter_gradients<T>(Exec(), sums, images, statistics(), gamma_gradient, beta_gradient, path);
    batch_norm_backward<T>(Exec(), g.in(), z.in(), statistics(), gamma, gamma_gradient, beta_gradient, dz.out(), path);
  }

  void add_sums(index_t i, double first, double second) {
    const Site site(z.shape, i);
    sums(2 * site.image * z.shape.channels + site.channel) += first;
    sums((2 * site.image + 1) * z.shape.channels + site.channel) += second;
  }

  Shortcut<T> shortcut() const { return has_shortcut ? Shortcut<T>{source.in(), 2} : Shortcut<T>{}; }
  Statistics<T> statistics() const { return {mean, inverse}; }

  OwnedMaps<T> z, out, weight, g, dz, source;
  Mirrored<T> gamma, beta, mean, inverse, running_mean, running_variance, gamma_gradient, beta_gradient;
  Mirrored<double> sums;
  bool has_shortcut;
  Activation activation = Activation::relu;
};

TEST(BatchNorm, GradientsAgreeWithDifferences) {
  for (const int channels : {6, 16, 32}) {
    for (const bool with_shortcut : {false, true}) {
      for (const Path path : {Path::best, Path::device, Path::portable}) {
        Problem<double> p(channels, with_shortcut);
        const auto loss = [&] {
          p.forward(path);
          return test::dot(p.out, p.weight, p.out.count());
        };
        loss();
        p.backward(path);
        test::expect_gradient(p.gamma, p.gamma_gradient, channels, loss, "gamma");
        test::expect_gradient(p.beta, p.beta_gradient, channels, loss, "beta");
        test::expect_gradient(p.z, p.dz, p.z.count(), loss, "z");
      }
    }
  }
}

TEST(BatchNorm, ShortcutIsOptionA) {
  for (const Path path : {Path::best, Path::portable}) {
    Problem<double> p(8, true);
    p.gamma.fill(0);
    p.beta.fill(100);  // the result after the ReLU is 100 + shortcut
    p.forward(path);
    for (index_t i = 0; i < p.out.count(); ++i) {
      const Site site(p.out.shape, i);
      const bool padding = site.channel < 2 || site.channel >= 6;
      const double source = padding ? 0 : p.source.at(site.image, 2 * site.row, 2 * site.column)[site.channel - 2];
      EXPECT_DOUBLE_EQ(p.out(i), 100 + source);
    }
  }
}

TEST(BatchNorm, KeepsNegativesWithoutActivation) {
  for (const Path path : {Path::best, Path::portable}) {
    Problem<double> with(9, false), without(9, false);
    without.activation = Activation::none;
    with.forward(path);
    without.forward(path);
    index_t negatives = 0;
    for (index_t i = 0; i < with.z.count(); ++i) {
      EXPECT_EQ(with.out(i), std::max(without.out(i), 0.0));
      negatives += without.out(i) < 0 ? 1 : 0;
    }
    EXPECT_GT(negatives, with.z.count() / 5);
  }
}

TEST(BatchNorm, HostSweepsAgreeWithPortableOnes) {
  for (const int channels : {6, 16, 64}) {
    Problem<float> host(channels, true), portable(channels, true);
    host.forward(Path::best);
    host.backward(Path::best);
    portable.forward(Path::portable);
    portable.backward(Path::portable);
    EXPECT_LT(test::relative_difference(host.out, portable.out, host.out.count()), 1e-5);
    EXPECT_LT(test::relative_difference(host.dz, portable.dz, host.dz.count()), 1e-5);
  }
}

/// to = first + second for each channel, by teams of two threads, which take images alternately.
void add_by_teams(const Mirrored<double>& sums, int images, int channels, const Mirrored<double>& to) {
  const Span<double> result = to;
  const auto finish = KOKKOS_LAMBDA(const index_t c, const double first, const double second) {
    result(c) = first + second;
  };
  device::for_channels<2>("test", Exec(), sums, images, channels, finish);
}

TEST(BatchNorm, TeamsAddImages) {
  if (Exec().concurrency() < 2) GTEST_SKIP() << "a team of two needs two threads";
  const int channels = 5;
  for (const int images : {0, 1, 2, 7}) {
    const auto sums = random_vector<double>(2 * images * channels, 1);
    const Mirrored<double> added(channels);
    add_by_teams(sums, images, channels, added);
    for (int c = 0; c < channels; ++c) {
      double expected = 0;
      for (int part = 0; part < 2 * images; ++part) expected += sums(part * channels + c);
      EXPECT_NEAR(added(c), expected, 1e-13) << images << " images, channel " << c;
    }
  }
}

TEST(BatchNorm, RunningStatisticsMoveByTheMomentum) {
  Problem<double> p(4, false);
  p.running_mean.fill(2);
  p.running_variance.fill(3);
  p.forward(Path::best);
  const int count = p.images * p.height * p.width;
  for (int c = 0; c < 4; ++c) {
    double mean = 0, variance = 0;
    for (int i = c; i < 4 * count; i += 4) mean += p.z(i) / count;
    for (int i = c; i < 4 * count; i += 4) variance += (p.z(i) - mean) * (p.z(i) - mean) / (count - 1);
    EXPECT_NEAR(p.mean(c), mean, 1e-12);
    EXPECT_NEAR(p.running_mean(c), 0.9 * 2 + 0.1 * mean, 1e-12);
    EXPECT_NEAR(p.running_variance(c), 0.9 * 3 + 0.1 * variance, 1e-12);
  }
  batch_norm_running<double>(Exec(), p.running_mean, p.running_variance, p.statistics());
  for (int c = 0; c < 4; ++c) {
    EXPECT_DOUBLE_EQ(p.mean(c), p.running_mean(c));
    EXPECT_NEAR(p.inverse(c), 1 / std::sqrt(p.running_variance(c) + 1e-5), 1e-14);
  }
}

TEST(BatchNorm, RunningStatisticsOfAChannelThatIsNotFiniteStay) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e200}) {
    Problem<double> p(4, false);
    p.running_mean.fill(2);
    p.running_variance.fill(3);
    p.z(1) = bad;  // in channel 1
    p.forward(Path::best);
    for (int c = 0; c < 4; ++c) {
      EXPECT_EQ(p.running_mean(c) == 2, c == 1) << bad;
      EXPECT_EQ(p.running_variance(c) == 3, c == 1) << bad;
    }
  }
}

}  // namespace
}  // namespace gradcomp::nn
