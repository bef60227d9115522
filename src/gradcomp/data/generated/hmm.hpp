#pragma once
// A synthetic language: the words that a hidden Markov model emits (Baum and Petrie 1966). The floor of the cross
// entropy is known exactly. It is the cross entropy of the forward filter (Rabiner 1989, section III A), which applies
// Bayes' rule to the true model. Predictors that count words or pairs of words stay well above the floor, so that a
// network must carry a state. This is our own design, not a published data set.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "gradcomp/core/options.hpp"
#include "gradcomp/data/split.hpp"

namespace gradcomp::data {

/// The dials. Larger vocabularies and more states are harder: with 64 states and 2000 words, a short run learns no more
/// than the frequencies of the words.
struct HmmOptions {
  index_t states = 24, successors = 3;  ///< successors: number for each state; the k-th one has weight 2^-k
  index_t smallest = 8, largest = 20;   ///< smallest and largest number of words of a state; the k-th has weight 1 / k
  index_t vocabulary = 400;
  double common = 0.05;  ///< probability of a word that belongs to no state (the first twentieth of the vocabulary)
  index_t tokens = 400'000, validation = 0, test = 20'000;  ///< words of the training, validation and test text;
                                                            ///< validation = 0: as many as test
  index_t seed = 4;                                         ///< of model and texts; independent of the training seed

  /// Names, defaults, ranges and meanings of the dials.
  static std::vector<Parameter> parameters();
  /// The defaults, replaced by what is `given`. Throws Error that lists what is allowed.
  static HmmOptions from(const std::map<std::string, std::string>& given);
  /// "hmm:states=24:..." with all dials, as results record them.
  std::string canonical() const;
};

class Hmm {
 public:
  /// Draws the model, which is a pure function of the dials and consists of integers.
  explicit Hmm(const HmmOptions& options);

  /// `count` words (numbers from 0 to vocabulary - 1). All states are equally likely at the start. Word t has its own
  /// draws, so that a longer text begins with the shorter one. All draws are integers and therefore the same for every
  /// compiler and machine.
  std::vector<std::int32_t> draw(Split split, index_t count) const;

  /// Mean of -ln p(word t | words 0 .. t - 1) over t = 1 .. text.size() - 1, in nats: the floor, below which no
  /// predictor can go on average.
  double cross_entropy(std::span<const std::int32_t> text) const;

  /// Probability that the state `to` follows the state `from`.
  double transition(index_t from, index_t to) const;
  /// Probability that `state` emits `word`, common words included.
  double emission(index_t state, std::int32_t word) const;

 private:
  /// Integers with weights.
  struct Choice {
    std::vector<std::int32_t> values;
    std::vector<std::uint64_t> weights;
    std::uint64_t total = 0;

    void add(std::int32_t value, std::uint64_t weight);
    std::int32_t at(std::uint64_t ticket) const;  ///< the value to which `ticket`, drawn from [0, total), belongs
    std::uint64_t weight(std::int32_t value) const;
  };

  HmmOptions m_options;
  std::uint64_t m_common_share;  ///< probability of a common word, times 2^16
  Choice m_common;
  std::vector<Choice> m_words, m_next;  ///< by state
};

}  // namespace gradcomp::data
