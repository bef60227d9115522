// Names, defaults and ranges of all dials, and the canonical form that results record.
#include "gradcomp/data/dials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_of.hpp"
#include "gradcomp/data/generated/hmm.hpp"
#include "gradcomp/data/generated/keywords.hpp"
#include "gradcomp/data/generated/shapetex.hpp"

namespace gradcomp::data {
namespace dials_test {

using testing::ElementsAre;

/// "name=default: what is allowed" of each dial.
std::vector<std::string> described(const std::vector<Parameter>& dials) {
  std::vector<std::string> lines;
  for (const Parameter& p : dials) lines.push_back(p.name + "=" + p.default_value + ": " + p.allowed());
  return lines;
}

TEST(Dials, OfHiddenMarkovModels) {
  EXPECT_THAT(described(HmmOptions::parameters()),
              ElementsAre("states=24: an integer in [1, 256]", "successors=3: an integer in [1, 16]",
                          "smallest=8: an integer in [1, 1000]", "largest=20: an integer in [1, 1000]",
                          "vocabulary=400: an integer in [2, 20000]", "common=0.05: a number in [0, 1]",
                          "tokens=400000: an integer in [2, 1000000000]", "validation=0: an integer in [0, 1000000000]",
                          "test=20000: an integer in [2, 1000000000]", "seed=4: an integer in [0, 1000000000000000]"));
}

TEST(Dials, OfKeywords) {
  EXPECT_THAT(described(KeywordOptions::parameters()),
              ElementsAre("classes=10: an integer in [2, 1000]", "train=8000: an integer in [2, 10000000]",
                          "validation=0: an integer in [0, 10000000]", "test=1000: an integer in [2, 10000000]",
                          "features=16: an integer in [1, 1024]", "phonemes=10: an integer in [2, 1000]",
                          "spoken=5: an integer in [2, 32]", "warp=3: an integer in [0, 3]",
                          "pause=6: an integer in [0, 64]", "speaker=1: a number in [0, 8]",
                          "noise=2: a number in [0, 8]", "seed=1: an integer in [0, 1000000000000000]"));
}

TEST(Dials, OfImages) {
  EXPECT_THAT(
      described(ShapeTexOptions::parameters()),
      ElementsAre("train=20000: an integer in [10, 100000000]", "validation=0: an integer in [0, 100000000]",
                  "test=2000: an integer in [10, 100000000]", "seed=1: an integer in [0, 1000000000000000]",
                  "noise=0.1: a number in [0, 1]", "rotation=0.08: a number in [0, 1]", "shift=5: a number in [0, 12]",
                  "small=6: a number in [2, 16]", "large=10: a number in [2, 16]",
                  "contrast=0.3: a number in [0.02, 0.5]", "clutter=1: a number in [0, 4]",
                  "lines=3: an integer in [0, 16]", "hue=0.5: a number in [0, 1]", "texture=0.6: a number in [0, 1]",
                  "easy=0: a number in [0, 1]"));
}

/// Options of a generator with an old and a newer dial.
struct Example {
  index_t validation = 0, test = 5;
  double strength = 0.5, easy = 0.5;
};

const Dials<Example> example("example", {{"test", &Example::test, 1, 9, "tests"},
                                         {"validation", &Example::validation, 0, 9, "validations"},
                                         {"strength", &Example::strength, 0, 1, "strength"},
                                         {"easy", &Example::easy, 0, 1, "ease", true}});

TEST(Dials, TheCanonicalFormLeavesOutANewerDialAtItsDefaultAlone) {
  EXPECT_EQ(example.canonical(example.from({})), "example:test=5:validation=5:strength=0.5");
  EXPECT_EQ(example.canonical(example.from({{"easy", "0.25"}})), "example:test=5:validation=5:strength=0.5:easy=0.25");
  EXPECT_EQ(example.canonical(example.from({{"easy", "0.75"}, {"validation", "3"}, {"test", "4"}})),
            "example:test=4:validation=3:strength=0.5:easy=0.75");
}

TEST(Dials, RefusalsNameTheGeneratorAndTheRange) {
  EXPECT_EQ(test::error_of([] { example.from({{"test", "10"}}); }),
            "example: test=10 is not allowed; test is an integer in [1, 9]");
  EXPECT_EQ(test::error_of([] { example.from({{"strength", "1.5"}}); }),
            "example: strength=1.5 is not allowed; strength is a number in [0, 1]");
  EXPECT_THAT(test::error_of([] { example.from({{"tests", "1"}}); }), testing::HasSubstr("unknown option 'tests'"));
}

}  // namespace dials_test
}  // namespace gradcomp::data
