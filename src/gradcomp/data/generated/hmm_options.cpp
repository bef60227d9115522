#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/dials.hpp"
#include "gradcomp/data/generated/hmm.hpp"

namespace gradcomp::data {
namespace {

const Dials<HmmOptions>& hmm_dials() {
  static const Dials<HmmOptions> all(
      "hmm", {
                 {"states", &HmmOptions::states, 1, 256, "hidden states"},
                 {"successors", &HmmOptions::successors, 1, 16, "states that may follow a state"},
                 {"smallest", &HmmOptions::smallest, 1, 1000, "smallest number of words of a state"},
                 {"largest", &HmmOptions::largest, 1, 1000, "largest number of words of a state"},
                 {"vocabulary", &HmmOptions::vocabulary, 2, 20'000, "words"},
                 {"common", &HmmOptions::common, 0, 1, "probability of a word that belongs to no state"},
                 {"tokens", &HmmOptions::tokens, 2, 1e9, "words of the training text"},
                 {"validation", &HmmOptions::validation, 0, 1e9, "words of the validation text; 0: as many as test"},
                 {"test", &HmmOptions::test, 2, 1e9, "words of the test text"},
                 {"seed", &HmmOptions::seed, 0, 1e15, "seed of model and texts"},
             });
  return all;
}

}  // namespace

std::vector<Parameter> HmmOptions::parameters() { return hmm_dials().parameters(); }

HmmOptions HmmOptions::from(const std::map<std::string, std::string>& pairs) {
  const HmmOptions o = hmm_dials().from(pairs);
  require(o.successors <= o.states, "hmm: successors={} is above states={}", o.successors, o.states);
  require(o.smallest <= o.largest, "hmm: smallest={} is above largest={}", o.smallest, o.largest);
  const index_t own = o.vocabulary - std::max<index_t>(1, o.vocabulary / 20);
  require(o.largest <= own, "hmm: largest={} is above the {} words of vocabulary={} that are not common", o.largest,
          own, o.vocabulary);
  return o;
}

std::string HmmOptions::canonical() const { return hmm_dials().canonical(*this); }

}  // namespace gradcomp::data
