#include <fmt/ranges.h>

#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/nn/make_model.hpp"
#include "gradcomp/nn/optimisers/sgd.hpp"
#include "unit/nn/support.hpp"

namespace gradcomp::nn {
namespace model_test {

using test::Mirrored;
using test::random_vector;
using test::same_bits;

/// A model with parameters, buffers, gradient and a random batch of `size` images.
template <class T>
struct Problem {
  Problem(const std::string& name, int extent, int size, int max_batch, Path path = Path::best)
      : model(make_model<T>(name, extent, extent, max_batch, 10, path)),
        parameters(model->layout().count()),
        buffers(model->buffer_count()),
        gradient(model->layout().count()),
        images(random_vector<T>(size * model->image_size(), 1)),
        labels(size) {
    model->initialise(1, parameters.host(), buffers.host());
    for (int i = 0; i < size; ++i) labels(i) = i * 7 % 10;
  }

  Batch<T> batch() const { return {images, labels}; }
  Loss train(const Ready& ready = {}) {
    return model->train_step(Exec(), parameters, buffers, batch(), gradient, ready);
  }

  std::unique_ptr<Model<T>> model;
  Mirrored<T> parameters, buffers, gradient, images;
  Mirrored<std::int32_t> labels;
};

TEST(ResNet20, HasTheParametersOfThePaper) {
  for (const int extent : {32, 8}) {
    const auto model = make_model<float>("resnet20", extent, extent, 1);
    index_t vectors = 0, rows = 0, columns = 0;
    for (const Segment& segment : model->layout().segments) {
      if (segment.is_matrix()) {
        rows += segment.rows();
        columns += segment.columns();
      } else {
        vectors += segment.count;
      }
    }
    EXPECT_EQ(model->layout().count(), 269722);
    EXPECT_EQ(vectors, 1386);
    EXPECT_EQ(rows, 5707);
    EXPECT_EQ(columns, 698);
    EXPECT_EQ(4 * (1 * (rows + columns) + vectors), 31164);  // PowerSGD's bytes at rank 1
    EXPECT_EQ(model->buffer_count(), 1376);
  }
  EXPECT_NEAR(make_model<float>("resnet20", 32, 32, 1)->step_flops() * 128, 31.0e9, 0.1e9);
}

TEST(ResNet20, NamesItsTensors) {
  const auto model = make_model<float>("resnet20", 8, 8, 1);
  const auto& segments = model->layout().segments;
  ASSERT_EQ(segments.size(), 59u);
  EXPECT_EQ(segments[0].name, "conv1.weight");
  EXPECT_EQ(segments[0].shape, (std::vector<index_t>{3, 3, 3, 16}));
  EXPECT_EQ(segments[1].name, "bn1.weight");
  EXPECT_EQ(segments[3].name, "stage1.block0.conv1.weight");
  EXPECT_EQ(segments[56].name, "stage3.block2.bn2.bias");
  EXPECT_EQ(segments[57].name, "linear.weight");
  EXPECT_EQ(segments[57].shape, (std::vector<index_t>{64, 10}));
}

TEST(MakeModel, RefusesWhatItCannotBuild) {
  try {
    make_model<float>("resnet21", 32, 32, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("unknown model 'resnet21'; did you mean 'resnet20'? allowed: resnet8, resnet20, "));
  }
  try {
    make_model<float>("lstm_1x96", 32, 32, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "model 'lstm_1x96' takes tokens, but the data are images");
  }
  EXPECT_THROW(make_model<float>("resnet20", 30, 32, 1), Error);
  EXPECT_THROW(make_model<float>("resnet20", 32, 32, 0), Error);
  EXPECT_THROW(make_model<float>("resnet18", 12, 16, 1), Error);
  try {
    make_model<float>("vgg11", 8, 8, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "vgg11: image height and width must be multiples of 32, not 8 x 8");
  }
}

TEST(Model, InitialisesFromTheSeedAlone) {
  Problem<float> a("resnet20", 8, 1, 1);
  Problem<double> b("resnet20", 8, 1, 1);
  double sum = 0, squares = 0;
  const Segment& segment = a.model->layout().segments[54];  // 3 x 3 x 64 x 64
  ASSERT_EQ(segment.count, 36864);
  for (index_t i = segment.offset; i < segment.offset + segment.count; ++i) {
    EXPECT_EQ(a.parameters(i), static_cast<float>(b.parameters(i)));
    sum += b.parameters(i);
    squares += b.parameters(i) * b.parameters(i);
  }
  const double deviation = std::sqrt(2.0 / 576);
  EXPECT_NEAR(sum / 36864, 0, 4 * deviation / 192);
  EXPECT_NEAR(squares / 36864, 2.0 / 576, 0.05 * 2 / 576);
  Problem<float> c("resnet20", 8, 1, 1);
  EXPECT_TRUE(same_bits(a.parameters, c.parameters));
}

TEST(Model, SmallBatchesDoNotSeeTheRestOfTheWorkspace) {
  Problem<float> exact("resnet8", 8, 3, 3), roomy("resnet8", 8, 3, 11);
  Problem<float> big("resnet8", 8, 11, 11);
  roomy.model->forward(Exec(), big.parameters, big.buffers,
                       big.batch());  // leaves the results of 11 images in the workspace
  const Loss a = exact.train(), b = roomy.train();
  EXPECT_EQ(a.sum, b.sum);
  EXPECT_EQ(b.count, 3);
  EXPECT_TRUE(same_bits(exact.gradient, roomy.gradient));
  EXPECT_TRUE(same_bits(exact.buffers, roomy.buffers));
  const Loss c = exact.model->evaluate(Exec(), exact.parameters, exact.buffers, exact.batch());
  const Loss d = roomy.model->evaluate(Exec(), roomy.parameters, roomy.buffers, roomy.batch());
  EXPECT_EQ(c.sum, d.sum);
  EXPECT_EQ(c.correct, d.correct);
}

TEST(Model, RefusesBatchesThatDoNotFit) {
  Problem<float> p("resnet8", 8, 3, 2);
  EXPECT_THROW(p.train(), Error);
  Problem<float> q("resnet8", 8, 2, 2);
  q.labels(1) = 10;
  EXPECT_THROW(q.train(), Error);
  q.labels(1) = 9;
  EXPECT_NO_THROW(q.train());
}

TEST(Model, ReportsGradientsAsTheyComplete) {
  Problem<float> p("resnet20", 8, 4, 4), whole("resnet20", 8, 4, 4);
  whole.train();
  std::vector<std::size_t> calls;
  const auto& segments = p.model->layout().segments;
  p.train([&](std::size_t first) {
    const auto found = p.gradient.now(), expected = whole.gradient.now();
    const auto offset = static_cast<std::size_t>(segments[first].offset);
    EXPECT_TRUE(same_bits(found.data() + offset, expected.data() + offset, found.size() - offset));
    calls.push_back(first);
  });
  EXPECT_EQ(calls.size(), 20u);  // the classifier and 19 convolutions
  EXPECT_TRUE(std::is_sorted(calls.rbegin(), calls.rend()));
  EXPECT_EQ(calls.front(), 57u);
  EXPECT_EQ(calls.back(), 0u);
}

TEST(Model, PathsAgreeInDouble) {
  for (const int extent : {8, 16}) {
    Problem<double> portable("resnet20", extent, 9, 9, Path::portable);
    const Loss b = portable.train();
    for (const Path path : {Path::best, Path::device}) {
      Problem<double> other("resnet20", extent, 9, 9, path);
      EXPECT_NEAR(other.train().sum, b.sum, 1e-11 * b.sum);
      EXPECT_LT(test::relative_difference(other.gradient, portable.gradient, other.model->layout().count()), 1e-9);
      EXPECT_LT(test::relative_difference(other.buffers, portable.buffers, other.model->buffer_count()), 1e-11);
    }
  }
}

TEST(Model, EvaluationReadsTheRunningStatistics) {
  Problem<double> p("resnet8", 8, 5, 5);
  for (int step = 0; step < 250; ++step) p.model->forward(Exec(), p.parameters, p.buffers, p.batch());
  const Loss training = p.model->loss(Exec());
  const Mirrored<double> before(p.model->buffer_count());
  before.assign(p.buffers);
  const Loss evaluated = p.model->evaluate(Exec(), p.parameters, p.buffers, p.batch());
  EXPECT_TRUE(same_bits(before, p.buffers));
  // With the same batch in every step, running and batch statistics differ only by the n / (n - 1) of the unbiased
  // variance.
  EXPECT_NEAR(evaluated.sum, training.sum, 0.15 * training.sum);
  p.buffers.fill(1);
  EXPECT_NE(p.model->evaluate(Exec(), p.parameters, p.buffers, p.batch()).sum, evaluated.sum);
}

TEST(Model, TrainsASmallProblem) {
  Problem<float> p("resnet20", 8, 16, 16);
  Sgd<float> sgd(p.model->layout(), {});
  const double first = p.train().mean();
  for (int step = 0; step < 40; ++step) {
    sgd.step(Exec(), 0.05, p.parameters, p.gradient);
    p.train();
  }
  const Loss last = p.model->loss(Exec());
  EXPECT_GT(first, 1.5);
  EXPECT_LT(last.mean(), 0.1);
  EXPECT_EQ(last.correct, 16);
}

}  // namespace model_test
}  // namespace gradcomp::nn
