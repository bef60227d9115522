#include "gradcomp/data/generated/hmm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/data/spec.hpp"

namespace gradcomp::data {
namespace hmm_test {

using ::testing::HasSubstr;
using Text = std::vector<std::int32_t>;

HmmOptions parse(const std::string& text) { return HmmOptions::from(split_pairs("hmm", text)); }

TEST(Hmm, ProbabilitiesSumToOneAndTheRingIsThere) {
  const HmmOptions options;
  const Hmm hmm(options);
  for (index_t s = 0; s < options.states; ++s) {
    double next = 0, words = 0;
    for (index_t t = 0; t < options.states; ++t) next += hmm.transition(s, t);
    for (std::int32_t w = 0; w < options.vocabulary; ++w) words += hmm.emission(s, w);
    EXPECT_NEAR(next, 1, 1e-12);
    EXPECT_NEAR(words, 1, 1e-12);
    EXPECT_NEAR(hmm.transition(s, (s + 1) % options.states), 1.0 / 7, 1e-12);
  }
}

/// Probability of `text`, as the sum over all sequences of states.
double brute_force(const Hmm& hmm, index_t states, const Text& text, std::size_t count) {
  index_t paths = 1;
  for (std::size_t t = 0; t < count; ++t) paths *= states;
  double sum = 0;
  for (index_t path = 0; path < paths; ++path) {
    double p = 1.0 / static_cast<double>(states);
    index_t rest = path;
    for (std::size_t t = 0; t < count; ++t) {
      const index_t state = rest % states;
      rest /= states;
      p *= hmm.emission(state, text[t]);
      if (t + 1 < count) p *= hmm.transition(state, rest % states);
    }
    sum += p;
  }
  return sum;
}

TEST(Hmm, FloorIsThatOfTheSumOverAllPaths) {
  const HmmOptions options =
      parse("states=3:successors=2:smallest=2:largest=4:vocabulary=8:common=0.2:tokens=9:test=9:seed=7");
  const Hmm hmm(options);
  for (const Split split : {Split::train, Split::test}) {
    const Text text = hmm.draw(split, 9);
    // The product of the conditional probabilities is p(w0 .. w8) / p(w0).
    const double expected = -std::log(brute_force(hmm, 3, text, text.size()) / brute_force(hmm, 3, text, 1)) / 8;
    EXPECT_NEAR(hmm.cross_entropy(text), expected, 1e-12);
    EXPECT_GT(expected, 0.1);
  }
  EXPECT_EQ(hmm.cross_entropy(Text{3}), 0);
}

double perplexity_of_words(const Text& train, const Text& test, std::size_t vocabulary) {
  std::vector<double> count(vocabulary, 1e-3);
  for (const auto w : train) count[static_cast<std::size_t>(w)] += 1;
  const double total = static_cast<double>(train.size()) + 1e-3 * static_cast<double>(vocabulary);
  double sum = 0;
  for (std::size_t t = 1; t < test.size(); ++t) sum -= std::log(count[static_cast<std::size_t>(test[t])] / total);
  return std::exp(sum / static_cast<double>(test.size() - 1));
}

/// A predictor by counts of pairs, smoothed with 5 counts that have the distribution of single words.
double perplexity_of_pairs(const Text& train, const Text& test, std::size_t vocabulary) {
  std::vector<double> pair(vocabulary * vocabulary), count(vocabulary, 1e-3), first(vocabulary);
  for (std::size_t t = 0; t + 1 < train.size(); ++t) {
    const auto a = static_cast<std::size_t>(train[t]), b = static_cast<std::size_t>(train[t + 1]);
    pair[a * vocabulary + b] += 1;
    first[a] += 1;
    count[b] += 1;
  }
  double sum = 0;
  for (std::size_t t = 1; t < test.size(); ++t) {
    const auto a = static_cast<std::size_t>(test[t - 1]), b = static_cast<std::size_t>(test[t]);
    const double word = count[b] / static_cast<double>(train.size());
    sum -= std::log((pair[a * vocabulary + b] + 5 * word) / (first[a] + 5));
  }
  return std::exp(sum / static_cast<double>(test.size() - 1));
}

TEST(Hmm, PublishedInstance) {
  const HmmOptions options;
  const Hmm hmm(options);
  const Text train = hmm.draw(Split::train, options.tokens), test = hmm.draw(Split::test, options.test);
  const double floor = std::exp(hmm.cross_entropy(test));
  // docs/datasets.md states these values.
  EXPECT_NEAR(floor, 27.548, 0.001);
  EXPECT_NEAR(perplexity_of_pairs(train, test, 400), 32.25, 0.01);
  EXPECT_NEAR(perplexity_of_words(train, test, 400), 80.27, 0.01);
  EXPECT_NEAR(std::exp(hmm.cross_entropy(train)), floor, 0.02 * floor);
  // Another value means that every published perplexity changes. Such a change needs another name of the task.
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(train.data());
  EXPECT_EQ(crc32(bytes, train.size() * 4), 0xA4CD0D81U);
}

TEST(Hmm, LongerTextsBeginWithShorterOnesAndSplitsDiffer) {
  const Hmm hmm(HmmOptions{});
  const Text all = hmm.draw(Split::train, 1000), part = hmm.draw(Split::train, 300);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin()));
  EXPECT_NE(hmm.draw(Split::test, 300), part);
}

TEST(Hmm, WordsComeAsOftenAsTheModelSays) {
  // With one state, words are independent draws.
  const HmmOptions options = parse("states=1:successors=1:smallest=10:largest=10:vocabulary=40:common=0.25");
  const Hmm hmm(options);
  std::vector<double> count(40);
  constexpr index_t n = 200'000;
  for (const auto w : hmm.draw(Split::train, n)) count[static_cast<std::size_t>(w)] += 1;
  for (std::int32_t w = 0; w < 40; ++w) {
    const double p = hmm.emission(0, w);
    EXPECT_NEAR(count[static_cast<std::size_t>(w)], p * n, 5 * std::sqrt(p * n) + 1e-9) << w;
  }
  EXPECT_NEAR(count[0] + count[1], 0.25 * n, 1000);
}

TEST(Hmm, DialsChangeTheTextAndAreRecorded) {
  const Text reference = Hmm(HmmOptions{}).draw(Split::train, 2000);
  for (const char* dial :
       {"seed=5", "states=20", "successors=2", "smallest=4", "largest=30", "vocabulary=300", "common=0.3"}) {
    const HmmOptions options = parse(dial);
    EXPECT_NE(Hmm(options).draw(Split::train, 2000), reference) << dial;
    EXPECT_THAT(options.canonical(), HasSubstr(dial));
    EXPECT_EQ(parse(options.canonical().substr(4)).canonical(), options.canonical());
  }
}

TEST(Hmm, RefusesWhatCannotBe) {
  for (const char* dials : {"states=2", "smallest=30", "vocabulary=20", "common=2", "word=3", "seed"}) {
    EXPECT_THROW(parse(dials), Error) << dials;
  }
}

}  // namespace hmm_test
}  // namespace gradcomp::data
