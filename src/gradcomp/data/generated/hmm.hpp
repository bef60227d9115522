#pragma once
// A synthetic language: the words that a hidden Markov model emits (Baum and Petrie 1966). The cross entropy that no
// predictor can go below is known exactly: that of the forward filter (Rabiner 1989, section III A), which is Bayes'
// rule under the true model. A count of words, then of pairs of words, stays well above it: a net must carry state.
// Source: our own; no published data set.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "gradcomp/core/options.hpp"
#include "gradcomp/data/split.hpp"

namespace gradcomp::data {

/// The dials. Larger vocabularies and more states are harder: 64 states with 2000 words leave no short run above the
/// count of words.
struct HmmOptions {
  index_t states = 24, successors = 3;  ///< successors of each state, the k-th with weight 2^-k
  index_t smallest = 8, largest = 20;   ///< words of a state, the k-th with weight 1 / k
  index_t vocabulary = 400;
  double common = 0.05;  ///< probability of a word that belongs to no state (the first twentieth of the vocabulary)
  index_t tokens = 400'000, validation = 0, test = 20'000;  ///< words of the texts, tokens: to train on; validation:
                                                            ///< 0 stands for as many as test
  index_t seed = 4;                                         ///< of model and texts; independent of the training seed

  /// Names, defaults, ranges and meaning of the dials.
  static std::vector<Parameter> parameters();
  /// Throws Error listing what is allowed.
  static HmmOptions from(const std::map<std::string, std::string>& given);
  /// "hmm:states=24:...": all dials, as results record them.
  std::string canonical() const;
};

class Hmm {
 public:
  /// Draws the model: a pure function of the dials, integers only.
  explicit Hmm(const HmmOptions& options);

  /// `count` words (from 0 to vocabulary - 1), from a state drawn evenly. Word t has draws of its own, all integers:
  /// the same for every compiler and machine; a longer text begins with the shorter one.
  std::vector<std::int32_t> draw(Split split, index_t count) const;

  /// Mean of -ln p(word t | words 0 .. t - 1) over t = 1 .. text.size() - 1: no predictor does better on average.
  double cross_entropy(std::span<const std::int32_t> text) const;

  /// Probability of `to` after `from`, and of `word` in `state`.
  double transition(index_t from, index_t to) const;
  double emission(index_t state, std::int32_t word) const;

 private:
  /// Integers with weights.
  struct Choice {
    std::vector<std::int32_t> values;
    std::vector<std::uint64_t> weights;
    std::uint64_t total = 0;

    void add(std::int32_t value, std::uint64_t weight);
    std::int32_t at(std::uint64_t ticket) const;  ///< ticket < total
    std::uint64_t weight(std::int32_t value) const;
  };

  HmmOptions m_options;
  std::uint64_t m_common_share;  ///< of 2^16 draws, those of a common word
  Choice m_common;
  std::vector<Choice> m_words, m_next;  ///< by state
};

}  // namespace gradcomp::data
