// Language models of LSTMs: derivatives, hidden state, dropout, paths. tests/golden tests their arithmetic.
#include "gradcomp/nn/networks/lstm_language_model.hpp"
#include "gradcomp/nn/networks/shapes.hpp"
#include "unit/nn/language_support.hpp"

namespace gradcomp::nn {
namespace lstm_test {

using test::language_model;
using test::Mirrored;
using test::same_bits;
using test::TextProblem;

constexpr int length = 5, vocabulary = 11;

LstmNetwork small(int layers, bool tied, double dropout) { return {"small", layers, 7, tied ? 7 : 6, tied, dropout}; }

template <class T>
TextProblem<T> problem(const LstmNetwork& network, int sequences, int max_batch, Path path = Path::best,
                       int steps = length) {
  auto model = std::make_unique<LstmLanguageModel<T>>(network, vocabulary, steps, max_batch, path);
  return {std::move(model), sequences, steps};
}

TEST(LstmLanguageModel, HasThePublishedParameters) {
  const auto count = [](const char* name, int words) { return language_model(name, words, 1)->layout().count(); };
  EXPECT_EQ(count("lstm_2x200", 10000), 4653200);  // PyTorch's example on the Penn Treebank
  EXPECT_EQ(count("lstm_2x650", 10000), 19780400);
  EXPECT_EQ(count("lstm_3x650", 28869), 28949319);  // Vogels et al. 2019, appendix
  EXPECT_EQ(count("lstm_1x128", 2000), 2000 * 128 * 2 + 2000 + 8 * 128 * 128 + 8 * 128);
}

TEST(LstmLanguageModel, HasTheTensorsThatAreDescribed) {
  const auto model = language_model("lstm_3x650", 28869, 1);
  const Layout shapes = model_shapes("lstm_3x650"), &built = model->layout();
  ASSERT_EQ(shapes.segments.size(), built.segments.size());
  for (std::size_t s = 0; s < shapes.segments.size(); ++s) {
    EXPECT_EQ(shapes.segments[s].name, built.segments[s].name);
    EXPECT_EQ(shapes.segments[s].shape, built.segments[s].shape);
  }
  EXPECT_NEAR(language_model("lstm_1x128", 2000, 1)->step_flops() * 2048, 4.76e9, 0.01e9);
}

TEST(LstmLanguageModel, GradientsAgreeWithDifferences) {
  for (const Path path : {Path::best, Path::portable}) {
    for (const LstmNetwork& network : {small(2, false, 0.4), small(1, false, 0), small(2, true, 0)}) {
      if (path == Path::portable && network.dropout == 0) continue;  // slow, because of many small launches
      auto p = problem<double>(network, 3, 4, path);
      p.perturb(0.2);
      test::expect_model_gradient(p);
    }
  }
}

TEST(LstmLanguageModel, PathsAgree) {
  for (const LstmNetwork& network : {LstmNetwork{"odd", 2, 37, 19, false, 0.3}, small(3, true, 0.5)}) {
    auto portable = problem<double>(network, 13, 13, Path::portable);
    const Loss b = portable.perturb(0.1).train();
    for (const Path path : {Path::best, Path::device}) {
      auto other = problem<double>(network, 13, 13, path);
      const Loss a = other.perturb(0.1).train();
      EXPECT_NEAR(a.sum, b.sum, 1e-12 * b.sum);
      EXPECT_EQ(a.correct, b.correct);
      EXPECT_LT(test::relative_difference(other.gradient, portable.gradient, other.model->layout().count()), 1e-12);
      EXPECT_LT(test::relative_difference(other.buffers, portable.buffers, other.model->buffer_count()), 1e-12);
    }
  }
}

TEST(LstmLanguageModel, FloatIsDoubleButForRounding) {
  const LstmNetwork network{"odd", 2, 37, 19, false, 0.3};
  auto f = problem<float>(network, 13, 13);
  auto d = problem<double>(network, 13, 13);
  const Loss single = f.train(), exact = d.train();
  EXPECT_NEAR(single.sum, exact.sum, 1e-6 * exact.sum);
  EXPECT_LT(test::relative_difference(f.gradient, d.gradient, d.model->layout().count()), 1e-5);
}

TEST(LstmLanguageModel, CarriesTheHiddenStateOn) {
  auto whole = problem<double>(small(2, false, 0), 3, 3, Path::best, 2 * length);
  auto part = problem<double>(small(2, false, 0), 3, 3);
  const Loss expected = whole.evaluate();
  Loss found;
  for (int half = 0; half < 2; ++half) {
    for (int s = 0; s < 3; ++s) {
      for (int t = 0; t < length; ++t) {
        part.tokens(s * length + t) = whole.tokens(s * 2 * length + half * length + t);
        part.labels(s * length + t) = whole.labels(s * 2 * length + half * length + t);
      }
    }
    found += half == 0 ? part.train() : part.evaluate();  // both update the hidden state
  }
  EXPECT_NEAR(found.sum, expected.sum, 1e-12 * expected.sum);
  EXPECT_EQ(found.count, expected.count);
  EXPECT_LT(test::relative_difference(part.buffers, whole.buffers, whole.model->buffer_count()), 1e-12);
  const Loss on = part.evaluate();
  part.restart = true;
  const Loss anew = part.evaluate();
  part.buffers.fill(0);
  part.restart = false;
  EXPECT_NE(on.sum, anew.sum);
  EXPECT_EQ(part.evaluate().sum, anew.sum);
}

TEST(LstmLanguageModel, SmallBatchesDoNotSeeTheRestOfTheWorkspace) {
  test::expect_small_batches_alone(
      [](int sequences, int max_batch) { return problem<float>(small(2, false, 0.2), sequences, max_batch); });
}

TEST(Dropout, DropsByTheRateAndScalesTheRest) {
  const index_t rows = 600, columns = 50;
  const Mirrored<float> x(rows * columns), y(rows * columns), z(rows * columns);
  x.fill(3);
  const auto from = Matrix<const float>::dense(x.read(), rows, columns);
  apply_dropout<float>(Exec(), {0.25, 9, 1, 6, 100}, from, Matrix<float>::dense(y.write(), rows, columns));
  // The same texts with another shape: the mask of element (sequence, step) is the same.
  apply_dropout<float>(Exec(), {0.25, 9, 1, 3, 100}, Matrix<const float>::dense(x.read(), rows / 2, columns),
                       Matrix<float>::dense(z.write(), rows / 2, columns));
  index_t zeros = 0;
  for (index_t i = 0; i < rows * columns; ++i) {
    EXPECT_TRUE(y(i) == 0 || y(i) == 4);
    zeros += y(i) == 0 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(zeros), 7500, 4 * 75);  // deviation: sqrt(30000 x 0.25 x 0.75)
  for (index_t step = 0; step < 100; ++step) {
    EXPECT_TRUE(same_bits(&y(step * 6 * columns), &z(step * 3 * columns), 3 * columns));
  }
  apply_dropout<float>(Exec(), {0.25, 9, 2, 6, 100}, from, Matrix<float>::dense(z.write(), rows, columns));
  EXPECT_FALSE(same_bits(y, z));
}

TEST(LstmLanguageModel, DropsByTheKeyAndInTrainingAlone) {
  auto a = problem<float>(small(2, false, 0.5), 3, 3), b = problem<float>(small(2, false, 0.5), 3, 3);
  auto none = problem<float>(small(2, false, 0), 3, 3);
  const double first = a.train().sum;
  EXPECT_EQ(b.train().sum, first);
  EXPECT_TRUE(same_bits(a.gradient, b.gradient));
  a.restart = b.restart = none.restart = true;
  b.key = 78;
  EXPECT_NE(b.train().sum, a.train().sum);
  EXPECT_EQ(a.evaluate().sum, none.evaluate().sum);
}

TEST(LstmLanguageModel, ReportsGradientsAsTheyComplete) {
  auto p = problem<float>(small(2, false, 0.3), 3, 3), whole = problem<float>(small(2, false, 0.3), 3, 3);
  test::expect_reports(p, whole, {9, 5, 1, 0});  // decoder, layers, embedding
}

TEST(LstmLanguageModel, RefusesWhatDoesNotFit) {
  EXPECT_THROW(problem<float>({"bad", 1, 8, 7, true, 0}, 1, 1), Error);
  EXPECT_THROW(problem<float>({"bad", 0, 8, 8, true, 0}, 1, 1), Error);
  EXPECT_THROW(problem<float>({"bad", 1, 8, 8, true, 1}, 1, 1), Error);
  EXPECT_THROW(problem<float>(small(1, false, 0), 3, 2).train(), Error);
  auto p = problem<float>(small(1, false, 0), 2, 2);
  EXPECT_THROW(p.model->forward(Exec(), p.parameters, p.buffers, {{}, p.labels, {}}), Error);
  EXPECT_THROW(p.model->forward(Exec(), p.parameters, p.buffers, {{}, subspan<std::int32_t>(p.labels, 0, 7), p.tokens}),
               Error);
}

TEST(LstmLanguageModel, RefusesTokensThatAreNone) {
  for (const int bad : {-1, vocabulary, 1 << 30}) {
    for (const bool label : {false, true}) {
      for (const Path path : {Path::best, Path::portable}) {
        auto p = problem<float>(small(1, true, 0), 2, 2, path);
        const Mirrored<std::int32_t>& where = label ? p.labels : p.tokens;
        where(8) = bad;
        try {
          p.train();
          FAIL();
        } catch (const Error& error) {
          EXPECT_STREQ(error.what(),
                       "small: the token or the label at step 3 of sequence 1 of the batch is not one of 11 classes");
        }
        where(8) = vocabulary - 1;
        EXPECT_NO_THROW(p.train());
      }
    }
  }
}

TEST(LstmLanguageModel, LearnsASmallText) {
  auto p = problem<float>(small(1, false, 0), 4, 4, Path::best, 9);
  p.restart = true;
  test::expect_learning(p, 0.5, 150);
}

}  // namespace lstm_test
}  // namespace gradcomp::nn
