// Language models of Transformer blocks, and their parts. tests/golden tests their arithmetic.
#include "gradcomp/nn/exponential.hpp"
#include "gradcomp/nn/networks/transformer_language_model.hpp"
#include "unit/nn/language_support.hpp"

namespace gradcomp::nn {
namespace transformer_test {

using test::language_model;
using test::same_bits;
using test::TextProblem;

constexpr int length = 5, vocabulary = 11;

TransformerNetwork small(int blocks, bool tied, double dropout) { return {"small", blocks, 6, 2, tied, dropout}; }

template <class T>
TextProblem<T> problem(const TransformerNetwork& network, int sequences, int max_batch, Path path = Path::best,
                       int steps = length) {
  auto model = std::make_unique<TransformerLanguageModel<T>>(network, vocabulary, steps, max_batch, path);
  return {std::move(model), sequences, steps};
}

TEST(Gelu, AgreesWithItsDefinitionAndDifferences) {
  for (int i = -60; i <= 60; ++i) {
    double x = 0.1 * i + 0.01;
    const double tanh = std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
    EXPECT_NEAR(gelu(x).value, 0.5 * x * (1 + tanh), 1e-14);
    EXPECT_NEAR(gelu(x).derivative, test::central_difference(x, [&] { return gelu(x).value; }), 1e-9);
    EXPECT_NEAR(gelu(static_cast<float>(x)).value, gelu(x).value, 1e-6);
    EXPECT_NEAR(gelu(static_cast<float>(x)).derivative, gelu(x).derivative, 2e-6);
  }
}

TEST(TransformerLanguageModel, HasItsParameters) {
  const index_t block = 12 * 128 * 128 + 13 * 128;  // 4 + 8 matrices; biases of 3 + 1 + 4 + 1, norms of 4
  EXPECT_EQ(language_model("transformer_2x128", 2000, 32)->layout().count(),
            2000 * 128 + 32 * 128 + 2 * block + 2 * 128 + 2000);
  EXPECT_EQ(problem<float>(small(1, false, 0), 1, 1).model->layout().count(),
            11 * 6 + 5 * 6 + 12 * 36 + 13 * 6 + 12 + 66 + 11);
  EXPECT_EQ(problem<float>(small(1, false, 0), 1, 1).model->step_flops(), 6 * (12 * 36 + 66));
}

TEST(TransformerLanguageModel, GradientsAgreeWithDifferences) {
  for (const Path path : {Path::best, Path::portable}) {
    for (const TransformerNetwork& network : {small(2, false, 0.4), small(1, false, 0), small(2, true, 0)}) {
      if (path == Path::portable && network.dropout == 0) continue;  // slow, because of many small launches
      auto p = problem<double>(network, 3, 4, path);
      p.perturb(0.3);
      test::expect_model_gradient(p);
    }
  }
}

TEST(TransformerLanguageModel, PathsAgree) {
  for (const int steps : {1, 13, 70}) {
    const TransformerNetwork network{"odd", 2, 39, 3, true, 0.3};
    auto portable = problem<double>(network, 5, 5, Path::portable, steps);
    const Loss b = portable.perturb(0.1).train();
    for (const Path path : {Path::best, Path::device}) {
      auto other = problem<double>(network, 5, 5, path, steps);
      const Loss a = other.perturb(0.1).train();
      EXPECT_NEAR(a.sum, b.sum, 1e-12 * b.sum);
      EXPECT_EQ(a.correct, b.correct);
      EXPECT_LT(test::relative_difference(other.gradient, portable.gradient, other.model->layout().count()), 1e-11);
    }
  }
}

TEST(TransformerLanguageModel, AStepDoesNotSeeThoseBehindIt) {
  auto p = problem<double>(small(2, false, 0), 1, 1);
  p.perturb(0.3);
  double changes[2];
  for (const int label : {3, 4}) {  // the label of all steps but the last
    for (int t = 0; t < length; ++t) p.labels(t) = t + 1 < length ? label : 5;
    p.tokens(length - 1) = 0;
    const double before = p.evaluate().sum;
    p.tokens(length - 1) = 1;
    changes[label - 3] = p.evaluate().sum - before;
  }
  EXPECT_GT(std::abs(changes[0]), 1e-3);
  EXPECT_NEAR(changes[0], changes[1], 1e-13);  // only the last step's loss has changed
}

TEST(TransformerLanguageModel, SmallBatchesDoNotSeeTheRestOfTheWorkspace) {
  test::expect_small_batches_alone(
      [](int sequences, int max_batch) { return problem<float>(small(2, false, 0.2), sequences, max_batch); });
}

TEST(TransformerLanguageModel, DropsByTheKeyAndInTrainingAlone) {
  auto a = problem<float>(small(2, false, 0.5), 3, 3), b = problem<float>(small(2, false, 0.5), 3, 3);
  auto none = problem<float>(small(2, false, 0), 3, 3);
  a.perturb(0.2);
  b.perturb(0.2);
  none.perturb(0.2);
  const double first = a.train().sum;
  EXPECT_EQ(b.train().sum, first);
  EXPECT_TRUE(same_bits(a.gradient, b.gradient));
  b.key = 78;
  EXPECT_NE(b.train().sum, first);
  EXPECT_EQ(a.evaluate().sum, none.evaluate().sum);
}

TEST(TransformerLanguageModel, ReportsGradientsAsTheyComplete) {
  auto p = problem<float>(small(2, true, 0.3), 3, 3), whole = problem<float>(small(2, true, 0.3), 3, 3);
  test::expect_reports(p, whole, {28, 26, 14, 2, 0});  // decoder, norm, blocks, embedding
}

TEST(TransformerLanguageModel, RefusesWhatDoesNotFit) {
  EXPECT_THROW(problem<float>({"bad", 1, 8, 3, true, 0}, 1, 1), Error);
  EXPECT_THROW(problem<float>({"bad", 0, 8, 2, true, 0}, 1, 1), Error);
  EXPECT_THROW(problem<float>({"bad", 1, 8, 2, true, 1}, 1, 1), Error);
  EXPECT_THROW(problem<float>(small(1, false, 0), 3, 2).train(), Error);
  for (const bool label : {false, true}) {
    auto p = problem<float>(small(1, true, 0), 2, 2);
    (label ? p.labels : p.tokens)(7) = vocabulary;
    EXPECT_THROW(p.train(), Error);
    (label ? p.labels : p.tokens)(7) = 0;
    EXPECT_NO_THROW(p.train());
  }
}

TEST(TransformerLanguageModel, LearnsASmallText) {
  auto p = problem<float>({"small", 1, 16, 2, true, 0}, 4, 4, Path::best, 9);
  test::expect_learning(p, 0.05, 200);
}

}  // namespace transformer_test
}  // namespace gradcomp::nn
