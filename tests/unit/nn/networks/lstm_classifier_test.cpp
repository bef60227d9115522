// Models that classify frames by LSTMs: derivatives, paths, errors.
#include "gradcomp/nn/networks/lstm_classifier.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/nn/make_model.hpp"
#include "gradcomp/nn/optimisers/sgd.hpp"
#include "unit/nn/support.hpp"

namespace gradcomp::nn {
namespace lstm_classifier_test {

using test::Mirrored;

constexpr int features = 5, length = 6, classes = 4;

FrameNetwork small(int layers, double dropout) { return {"small", layers, 7, dropout}; }

template <class T>
struct FrameProblem {
  FrameProblem(const FrameNetwork& network, int sequences, int max_batch, Path path = Path::best)
      : model(network, features, length, max_batch, classes, path),
        parameters(model.layout().count()),
        gradient(model.layout().count()),
        frames(test::random_vector<T>(sequences * length * features, 1)),
        labels(sequences) {
    model.initialise(1, parameters.host(), HostSpan<T>());
    for (int i = 0; i < sequences; ++i) labels(i) = i * 3 % classes;
  }
  Batch<T> batch() const { return {frames, labels, {}, false, 5}; }
  Loss train(const Ready& ready = {}) { return model.train_step(Exec(), parameters, {}, batch(), gradient, ready); }
  Loss evaluate() { return model.evaluate(Exec(), parameters, {}, batch()); }

  LstmClassifier<T> model;
  Mirrored<T> parameters, gradient, frames;
  Mirrored<std::int32_t> labels;
};

TEST(LstmClassifier, GradientsAgreeWithDifferences) {
  for (const Path path : {Path::best, Path::portable}) {
    for (const FrameNetwork& network : {small(1, 0), small(2, 0.4)}) {
      FrameProblem<double> p(network, 3, 4, path);
      p.train();
      const auto loss = [&] {
        p.model.forward(Exec(), p.parameters, {}, p.batch());
        return p.model.loss(Exec()).mean();
      };
      for (const Segment& segment : p.model.layout().segments) {
        test::expect_gradient(p.parameters.from(segment.offset), p.gradient.from(segment.offset), segment.count, loss,
                              segment.name.c_str());
      }
    }
  }
}

TEST(LstmClassifier, PathsAgree) {
  FrameProblem<double> portable(small(2, 0.3), 9, 9, Path::portable);
  const double expected = portable.train().sum;
  for (const Path path : {Path::best, Path::device}) {
    FrameProblem<double> other(small(2, 0.3), 9, 9, path);
    EXPECT_NEAR(other.train().sum, expected, 1e-12);
    EXPECT_LT(test::relative_difference(other.gradient, portable.gradient, other.model.layout().count()), 1e-12);
  }
}

TEST(LstmClassifier, SequencesStandAlone) {
  FrameProblem<double> all(small(2, 0), 5, 5), few(small(2, 0), 2, 5);
  for (index_t i = 0; i < 2 * length * features; ++i) few.frames(i) = all.frames(i);
  const double first = few.evaluate().sum;
  all.evaluate();
  EXPECT_EQ(few.evaluate().sum, first);  // no hidden state was kept
  const double whole = all.evaluate().sum;
  double sum = 0;
  for (int s = 0; s < 5; ++s) {
    FrameProblem<double> one(small(2, 0), 1, 1);
    for (index_t i = 0; i < length * features; ++i) one.frames(i) = all.frames(s * length * features + i);
    one.labels(0) = all.labels(s);
    sum += one.evaluate().sum;
  }
  EXPECT_NEAR(sum, whole, 1e-12);
}

TEST(LstmClassifier, ReportsGradientsAsTheyComplete) {
  FrameProblem<float> p(small(2, 0.3), 3, 3), whole(small(2, 0.3), 3, 3);
  whole.train();
  std::vector<std::size_t> calls;
  p.train([&](std::size_t first) {
    const auto found = p.gradient.now(), expected = whole.gradient.now();
    const auto offset = static_cast<std::size_t>(p.model.layout().segments[first].offset);
    EXPECT_TRUE(test::same_bits(found.data() + offset, expected.data() + offset, found.size() - offset));
    calls.push_back(first);
  });
  EXPECT_EQ(calls, (std::vector<std::size_t>{8, 4, 0}));
}

TEST(LstmClassifier, RefusesWhatDoesNotFit) {
  EXPECT_THROW(FrameProblem<float>(small(0, 0), 1, 1), Error);
  EXPECT_THROW(FrameProblem<float>(small(1, 1), 1, 1), Error);
  EXPECT_THROW(FrameProblem<float>(small(1, 0), 3, 2).train(), Error);
  FrameProblem<float> p(small(1, 0), 2, 2);
  EXPECT_THROW(p.model.forward(Exec(), p.parameters, {}, {subspan<float>(p.frames, 0, 59), p.labels}), Error);
  p.labels(1) = classes;
  EXPECT_THROW(p.train(), Error);
  p.labels(1) = classes - 1;
  EXPECT_NO_THROW(p.train());
  EXPECT_EQ(make_model<float>("frames_lstm_1x64", InputShape{InputShape::Kind::frames, 0, 0, 0, 50, 40, 12}, 1)
                ->layout()
                .count(),
            4 * 64 * (40 + 64 + 2) + 64 * 12 + 12);
}

TEST(LstmClassifier, LearnsASmallProblem) {
  FrameProblem<float> p(small(1, 0), 8, 8);
  Sgd<float> sgd(p.model.layout(), {});
  EXPECT_NEAR(p.train().mean(), std::log(4.0), 0.2);
  for (int step = 0; step < 300; ++step) {
    sgd.step(Exec(), 0.2, p.parameters, p.gradient);
    p.train();
  }
  EXPECT_EQ(p.model.loss(Exec()).correct, 8);
}

}  // namespace lstm_classifier_test
}  // namespace gradcomp::nn
