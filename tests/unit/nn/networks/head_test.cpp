// Pooling, the linear layer and the loss.
#include <limits>

#include "gradcomp/nn/layers/linear.hpp"
#include "gradcomp/nn/layers/pool.hpp"
#include "gradcomp/nn/layers/softmax.hpp"
#include "unit/nn/support.hpp"

namespace gradcomp::nn {
namespace head_test {

using test::Mirrored;
using test::OwnedMaps;
using test::random_vector;

TEST(GlobalAveragePool, GradientAgreesWithDifferences) {
  const int images = 2, channels = 5;
  OwnedMaps<double> x(images, 3, 4, channels, 1), z(images, 3, 4, channels, 0), dx(images, 3, 4, channels, 0);
  x.random(1);
  z.random(2);
  const auto weight = random_vector<double>(images * channels, 3), mean = random_vector<double>(channels, 4);
  const Mirrored<double> pooled(images * channels), sums(2 * images * channels);
  const auto loss = [&] {
    global_average_pool<double>(Exec(), x.in(), pooled);
    return test::dot(pooled, weight, images * channels);
  };
  global_average_pool_backward<double>(Exec(), weight, {x.in(), z.in(), mean, sums, {}, 1}, dx.out());
  Mirrored<double> expected_sums(2 * images * channels);
  for (index_t i = 0; i < dx.count(); ++i) {
    const Site site(dx.shape, i);
    EXPECT_NEAR(dx(i), x(i) > 0 ? test::central_difference(x(i), loss) : 0.0, 1e-8);
    expected_sums(2 * site.image * channels + site.channel) += dx(i);
    expected_sums((2 * site.image + 1) * channels + site.channel) += dx(i) * (z(i) - mean(site.channel));
  }
  EXPECT_LT(test::relative_difference(sums, expected_sums, 2 * images * channels), 1e-12);
}

TEST(Linear, GradientsAgreeWithDifferences) {
  const LinearShape shape{4, 6, 3};
  const GemmWorkspace<double> workspace;
  const auto x = random_vector<double>(24, 1), w = random_vector<double>(18, 2), b = random_vector<double>(3, 3);
  const auto weight = random_vector<double>(12, 4);
  for (const Path path : {Path::best, Path::portable}) {
    for (const bool rectify : {false, true}) {
      const Mirrored<double> y(12), dy(12), dx(24), dw(18), db(3);
      const auto loss = [&] {
        linear_forward<double>(Exec(), shape, x, w, b, rectify, y, workspace, path);
        return test::dot(y, weight, 12);
      };
      loss();
      for (index_t i = 0; i < 12; ++i) dy(i) = rectify && y(i) <= 0 ? 0 : weight(i);
      linear_backward_data<double>(Exec(), shape, dy, w, {}, dx, workspace, path);
      linear_backward_weights<double>(Exec(), shape, x, dy, dw, db, workspace, path);
      test::expect_gradient(x, dx, 24, loss, "x");
      test::expect_gradient(w, dw, 18, loss, "w");
      test::expect_gradient(b, db, 3, loss, "b");
    }
  }
}

TEST(Linear, MasksWhereTheInputWasCut) {
  const LinearShape shape{5, 7, 3};
  const GemmWorkspace<double> workspace;
  const auto x = random_vector<double>(35, 1), w = random_vector<double>(21, 2), dy = random_vector<double>(15, 3);
  const Mirrored<double> plain(35), masked(35);
  linear_backward_data<double>(Exec(), shape, dy, w, {}, plain, workspace, Path::best);
  linear_backward_data<double>(Exec(), shape, dy, w, x, masked, workspace, Path::best);
  for (index_t i = 0; i < 35; ++i) EXPECT_EQ(masked(i), x(i) > 0 ? plain(i) : 0.0);
}

TEST(SoftmaxCrossEntropy, GradientAgreesWithDifferences) {
  const int batch = 5, classes = 4;
  for (const bool weighted : {false, true}) {
    const auto logits = random_vector<double>(batch * classes, 1);
    const Mirrored<double> losses(batch), gradient(batch * classes), before(batch * classes);
    const Mirrored<Hit> hits(batch);
    const Mirrored<std::int32_t> labels(batch);
    const Mirrored<float> weights(weighted ? batch : 0);
    for (int i = 0; i < batch; ++i) labels(i) = i % classes;
    for (int i = 0; weighted && i < batch; ++i) weights(i) = 0.75f * static_cast<float>(i);
    const auto loss = [&] {
      softmax_cross_entropy<double>(Exec(), classes, logits, labels, weights, losses, hits, gradient);
      double sum = 0;
      for (int i = 0; i < batch; ++i) sum += (weighted ? 0.75 * i : 1) * losses(i) / batch;
      return sum;
    };
    loss();
    before.assign(gradient);
    test::expect_gradient(logits, before, batch * classes, loss, "logit");
  }
}

TEST(SoftmaxCrossEntropy, CountsHitsAndFlagsBadLabels) {
  const Mirrored<float> logits(12), gradient(12);
  const Mirrored<double> losses(4);
  const Mirrored<Hit> hits(4);
  const Mirrored<std::int32_t> labels(4);
  logits(1) = 1;  // image 0: class 1
  labels(0) = 1;
  labels(1) = 2;     // image 1: all equal, so class 0 is the prediction
  logits(8) = 3000;  // image 2: no overflow
  labels(2) = 2;
  labels(3) = 3;  // no class
  softmax_cross_entropy<float>(Exec(), 3, logits, labels, {}, losses, hits, gradient);
  EXPECT_EQ(hits(0), Hit::right);
  EXPECT_EQ(hits(1), Hit::wrong);
  EXPECT_NEAR(losses(1), std::log(3.0), 1e-12);
  EXPECT_EQ(hits(2), Hit::right);
  EXPECT_EQ(losses(2), 0);
  EXPECT_EQ(hits(3), Hit::bad_label);
  EXPECT_EQ(gradient(9), 0);
}

TEST(SoftmaxCrossEntropy, IsNoNumberWhereALogitIsNone) {
  for (const float none : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (int place = 0; place < 3; ++place) {
      const Mirrored<float> logits(6);
      const Mirrored<double> losses(2);
      const Mirrored<Hit> hits(2);
      const Mirrored<std::int32_t> labels(2);
      logits(place) = none;
      softmax_cross_entropy<float>(Exec(), 3, logits, labels, {}, losses, hits, {});
      EXPECT_TRUE(std::isnan(losses(0))) << place;
      EXPECT_NEAR(losses(1), std::log(3.0), 1e-12);
    }
  }
}

}  // namespace head_test
}  // namespace gradcomp::nn
