#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/dials.hpp"
#include "gradcomp/data/generated/hmm.hpp"

namespace gradcomp::data {

std::vector<Parameter> HmmOptions::parameters() {
  const HmmOptions d;
  return {
      integer_dial("states", d.states, 1, 256, "hidden states"),
      integer_dial("successors", d.successors, 1, 16, "states that may follow a state"),
      integer_dial("smallest", d.smallest, 1, 1000, "smallest number of words of a state"),
      integer_dial("largest", d.largest, 1, 1000, "largest number of words of a state"),
      integer_dial("vocabulary", d.vocabulary, 2, 20'000, "words"),
      real_dial("common", d.common, 0, 1, "probability of a word that belongs to no state"),
      integer_dial("tokens", d.tokens, 2, 1e9, "words of the training text"),
      integer_dial("validation", d.validation, 0, 1e9, "words of the validation text; 0: as many as test"),
      integer_dial("test", d.test, 2, 1e9, "words of the test text"),
      integer_dial("seed", d.seed, 0, 1e15, "seed of model and texts"),
  };
}

HmmOptions HmmOptions::from(const std::map<std::string, std::string>& pairs) {
  const ParameterValues given("hmm", parameters(), pairs);
  HmmOptions o;
  o.states = given.integer("states");
  o.successors = given.integer("successors");
  o.smallest = given.integer("smallest");
  o.largest = given.integer("largest");
  o.vocabulary = given.integer("vocabulary");
  o.common = given.real("common");
  o.tokens = given.integer("tokens");
  o.test = given.integer("test");
  o.validation = given.integer("validation") > 0 ? given.integer("validation") : o.test;
  o.seed = given.integer("seed");
  require(o.successors <= o.states, "hmm: successors={} is above states={}", o.successors, o.states);
  require(o.smallest <= o.largest, "hmm: smallest={} is above largest={}", o.smallest, o.largest);
  const index_t own = o.vocabulary - std::max<index_t>(1, o.vocabulary / 20);
  require(o.largest <= own, "hmm: largest={} is above the {} words of vocabulary={} that are not common", o.largest,
          own, o.vocabulary);
  return o;
}

std::string HmmOptions::canonical() const {
  return fmt::format(
      "hmm:states={}:successors={}:smallest={}:largest={}:vocabulary={}:common={}:tokens={}:validation={}:test={}:seed="
      "{}",
      states, successors, smallest, largest, vocabulary, common, tokens, validation, test, seed);
}

}  // namespace gradcomp::data
