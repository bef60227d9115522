// Weights of samples: their effect on the gradient and the loss of every model.
#include "unit/nn/sample_support.hpp"

namespace gradcomp::nn {
namespace weights_test {

using test::Kind;
using test::Mirrored;
using test::same_bits;
using test::SampleProblem;

const std::vector<float> some = {2, 0, 0.5f};

/// The gradient with the current buffers of p, which do not change.
Mirrored<double> gradient_of(SampleProblem<double>& p, Loss* loss = nullptr) {
  const Mirrored<double> buffers(p.model->buffer_count()), gradient(p.model->layout().count());
  buffers.assign(p.buffers);
  const Loss found = p.train();
  if (loss != nullptr) *loss = found;
  gradient.assign(p.gradient);
  p.buffers.assign(buffers);
  return gradient;
}

void add(double factor, const Mirrored<double>& x, const Mirrored<double>& to) {
  for (index_t i = 0; i < index_t(x.size()); ++i) to(i) += factor * x(i);
}

TEST(Weights, GradientsAgreeWithDifferences) {
  for (const Path path : test::paths) {
    for (const Kind kind : test::kinds) {
      SampleProblem<double> p(kind, 3, 4, path, 0.3);
      const auto gradient = gradient_of(p.weigh(some));
      const Mirrored<double> buffers(p.model->buffer_count());
      const auto loss = [&] {
        buffers.assign(p.buffers);
        p.model->forward(Exec(), p.parameters, buffers, p.batch());
        return p.model->loss(Exec()).mean();
      };
      // For images, steps are so short that hardly any ReLU or maximum changes.
      const double tolerance = test::has_batch_norm(kind) ? 1e-5 : 1e-7;
      const double step = test::has_batch_norm(kind) ? 1e-6 : 1e-5;
      for (const Segment& segment : p.model->layout().segments) {
        for (const index_t i : {segment.offset, segment.offset + 2 * segment.count / 3}) {
          const double expected = test::central_difference(p.parameters(i), loss, step);
          EXPECT_NEAR(gradient(i), expected, tolerance * (1 + std::abs(expected))) << p.name() << " " << segment.name;
        }
      }
    }
  }
}

TEST(Weights, AddUpTheGradientsOfSingleSamples) {
  for (const Kind kind : test::kinds) {
    if (test::has_batch_norm(kind)) continue;
    for (const int max_batch : {3, 5}) {
      SampleProblem<double> p(kind, 3, max_batch);
      const Mirrored<double> expected(p.model->layout().count());
      double sum = 0;
      index_t correct = 0;
      for (int j = 0; j < 3; ++j) {
        auto one = p.alone(j);
        const Loss loss = one.train();
        sum += double(some[static_cast<std::size_t>(j)]) * loss.sum;
        correct += loss.correct;
        add(double(some[static_cast<std::size_t>(j)]) / 3, one.gradient, expected);
      }
      Loss loss;
      const auto gradient = gradient_of(p.weigh(some), &loss);
      EXPECT_LT(test::relative_difference(gradient, expected, p.model->layout().count()), 1e-12) << p.name();
      EXPECT_NEAR(loss.sum, sum, 1e-12 * sum) << p.name();
      EXPECT_EQ(loss.correct, correct) << p.name();
      EXPECT_EQ(loss.count, 3 * p.labels_of_each()) << p.name();
    }
  }
}

TEST(Weights, AddUpWhereTheBatchIsNormalised) {
  for (const Kind kind : {Kind::resnet, Kind::vgg}) {
    SampleProblem<double> p(kind, 3, 3);
    const Mirrored<double> expected(p.model->layout().count());
    double sum = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      std::vector<float> of_one(3, 0);
      of_one[j] = 1;
      Loss loss;
      add(some[j], gradient_of(p.weigh(of_one), &loss), expected);
      sum += double(some[j]) * loss.sum;
    }
    Loss loss;
    const auto gradient = gradient_of(p.weigh(some), &loss);
    EXPECT_LT(test::relative_difference(gradient, expected, p.model->layout().count()), 1e-11) << p.name();
    EXPECT_NEAR(loss.sum, sum, 1e-12 * sum) << p.name();
  }
}

TEST(Weights, OfOneChangeNoBit) {
  for (const Path path : test::paths) {
    for (const Kind kind : test::kinds) {
      SampleProblem<float> plain(kind, 3, 4, path, 0.3), weighted(kind, 3, 4, path, 0.3);
      const Loss a = plain.train(), b = weighted.weigh({1, 1, 1}).train();
      EXPECT_EQ(a.sum, b.sum) << plain.name();
      EXPECT_EQ(a.correct, b.correct) << plain.name();
      EXPECT_TRUE(same_bits(plain.gradient, weighted.gradient)) << plain.name();
      EXPECT_TRUE(same_bits(plain.buffers, weighted.buffers)) << plain.name();
      EXPECT_EQ(plain.evaluate().sum, weighted.evaluate().sum) << plain.name();
    }
  }
}

TEST(Weights, OfZeroLeaveNoGradient) {
  for (const Path path : test::paths) {
    for (const Kind kind : test::kinds) {
      SampleProblem<float> p(kind, 3, 3, path, 0.3), plain(kind, 3, 3, path, 0.3);
      p.gradient.fill(1);
      const Loss loss = p.weigh({0, 0, 0}).train(), unweighted = plain.train();
      EXPECT_EQ(loss.sum, 0) << p.name();
      EXPECT_EQ(loss.correct, unweighted.correct) << p.name();
      EXPECT_EQ(loss.count, unweighted.count) << p.name();
      for (const float g : p.gradient.now()) ASSERT_EQ(g, 0) << p.name();
      EXPECT_TRUE(same_bits(p.buffers, plain.buffers)) << p.name();  // only forward changes them
    }
  }
}

TEST(Weights, PathsAgree) {
  for (const Kind kind : test::kinds) {
    SampleProblem<double> portable(kind, 3, 3, Path::portable, 0.3);
    const double expected = portable.weigh(some).train().sum;
    for (const Path path : {Path::best, Path::device}) {
      SampleProblem<double> other(kind, 3, 3, path, 0.3);
      EXPECT_NEAR(other.weigh(some).train().sum, expected, 1e-11 * expected) << other.name();
      EXPECT_LT(test::relative_difference(other.gradient, portable.gradient, other.model->layout().count()), 1e-9)
          << other.name();
    }
  }
}

TEST(Weights, AreThoseOfTheLastBatchAlone) {
  for (const Kind kind : test::kinds) {
    SampleProblem<float> used(kind, 2, 5), fresh(kind, 2, 5);
    SampleProblem<float> big(kind, 5, 5);
    used.model->train_step(Exec(), big.parameters, big.buffers, big.weigh({3, 4, 5, 6, 7}).batch(), big.gradient);
    EXPECT_EQ(used.train().sum, fresh.train().sum) << used.name();
    EXPECT_TRUE(same_bits(used.gradient, fresh.gradient)) << used.name();
    used.weigh({2, 2});
    used.model->forward(Exec(), used.parameters, used.buffers, used.batch());
    used.weights.fill(0);
    used.batch();  // passes the caller's array again; the model has its own copy
    const Loss weighted = used.model->loss(Exec());
    fresh.model->forward(Exec(), fresh.parameters, fresh.buffers, fresh.batch());
    EXPECT_EQ(weighted.sum, 2 * fresh.model->loss(Exec()).sum) << used.name();
  }
}

TEST(Weights, AreOneForEachSampleOrNone) {
  for (const Kind kind : test::kinds) {
    for (const int count : {1, 2, 4, 15}) {
      SampleProblem<float> p(kind, 3, 4);
      p.weigh(std::vector<float>(static_cast<std::size_t>(count), 1)).restart = true;
      const auto buffers = p.buffers.now();
      try {
        p.train();
        FAIL() << p.name();
      } catch (const Error& error) {
        EXPECT_EQ(error.what(), fmt::format("{}: {} weights for a batch of 3 samples where each has one, or none has",
                                            p.name(), count));
      }
      EXPECT_EQ(p.buffers.now(), buffers) << p.name();  // the pass did not begin
    }
  }
}

TEST(Weights, LeaveBadLabelsReported) {
  for (const Kind kind : test::kinds) {
    SampleProblem<float> p(kind, 3, 3);
    p.weigh({1, 0, 1}).labels(p.labels_of_each()) = p.model->classes();  // a label of the sample with weight 0
    EXPECT_THROW(p.train(), Error) << p.name();
    EXPECT_THROW(p.evaluate(), Error) << p.name();
    p.labels(p.labels_of_each()) = 0;
    EXPECT_NO_THROW(p.train()) << p.name();
  }
}

}  // namespace weights_test
}  // namespace gradcomp::nn
