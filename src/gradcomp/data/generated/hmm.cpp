#include "gradcomp/data/generated/hmm.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/counter_rng.hpp"

namespace gradcomp::data {
namespace {

/// Streams (CounterRng's `a`) of the model, of the words of each text, and of its first state.
constexpr std::uint64_t states_stream = 0x4801, words_stream = 0x4802, train_stream = 0x4803, test_stream = 0x4804,
                        first_stream = 0x4805, validation_stream = 0x4806;
constexpr std::uint64_t share_unit = 65536;
constexpr std::uint64_t zipf_unit = 1U << 20U;  ///< the k-th word (k = 1, 2, ...) has the weight floor(zipf_unit / k)

std::uint64_t common_words(const HmmOptions& o) {
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(o.vocabulary) / 20);
}

}  // namespace

void Hmm::Choice::add(std::int32_t value, std::uint64_t weight) {
  values.push_back(value);
  weights.push_back(weight);
  total += weight;
}

std::int32_t Hmm::Choice::at(std::uint64_t ticket) const {
  std::size_t i = 0;
  for (; ticket >= weights[i]; ++i) ticket -= weights[i];
  return values[i];
}

std::uint64_t Hmm::Choice::weight(std::int32_t value) const {
  const auto found = std::find(values.begin(), values.end(), value);
  return found == values.end() ? 0 : weights[static_cast<std::size_t>(found - values.begin())];
}

Hmm::Hmm(const HmmOptions& o)
    : m_options(o),
      m_common_share(static_cast<std::uint64_t>(o.common * static_cast<double>(share_unit) + 0.5)),
      m_words(static_cast<std::size_t>(o.states)),
      m_next(static_cast<std::size_t>(o.states)) {
  const auto states = static_cast<std::uint64_t>(o.states), seed = static_cast<std::uint64_t>(o.seed);
  const std::uint64_t shared = common_words(o);
  for (std::uint64_t k = 0; k < shared; ++k) m_common.add(static_cast<std::int32_t>(k), zipf_unit / (k + 1));
  std::vector<std::int32_t> words(static_cast<std::size_t>(o.vocabulary) - shared);
  for (std::uint64_t s = 0; s < states; ++s) {
    // The last successor is the next state of a ring, so that every state can be reached from every other one. Each of
    // the others is the smallest of three draws, so that some states are visited more often than others.
    std::vector<std::int32_t> next = {static_cast<std::int32_t>((s + 1) % states)};
    CounterRng rng(seed, states_stream, s);
    while (static_cast<index_t>(next.size()) < o.successors) {
      const auto state = static_cast<std::int32_t>(std::min({rng.below(states), rng.below(states), rng.below(states)}));
      if (std::find(next.begin(), next.end(), state) == next.end()) next.push_back(state);
    }
    std::rotate(next.begin(), next.begin() + 1, next.end());
    for (std::size_t k = 0; k < next.size(); ++k) m_next[s].add(next[k], std::uint64_t{1} << (next.size() - 1 - k));

    CounterRng draws(seed, words_stream, s);
    const std::uint64_t count =
        static_cast<std::uint64_t>(o.smallest) + draws.below(static_cast<std::uint64_t>(o.largest - o.smallest + 1));
    std::iota(words.begin(), words.end(), static_cast<std::int32_t>(shared));
    for (std::uint64_t k = 0; k < count; ++k) {
      std::swap(words[k], words[k + draws.below(words.size() - k)]);
      m_words[s].add(words[k], zipf_unit / (k + 1));
    }
  }
}

std::vector<std::int32_t> Hmm::draw(Split split, index_t count) const {
  const auto seed = static_cast<std::uint64_t>(m_options.seed);
  const std::uint64_t stream = split == Split::train  ? train_stream
                               : split == Split::test ? test_stream
                                                      : validation_stream;
  std::vector<std::int32_t> text(static_cast<std::size_t>(count));
  std::size_t state = CounterRng(seed, first_stream, stream).below(m_words.size());
  for (std::size_t t = 0; t < text.size(); ++t) {
    CounterRng rng(seed, stream, t);
    const Choice& words = rng.below(share_unit) < m_common_share ? m_common : m_words[state];
    text[t] = words.at(rng.below(words.total));
    state = static_cast<std::size_t>(m_next[state].at(rng.below(m_next[state].total)));
  }
  return text;
}

double Hmm::transition(index_t from, index_t to) const {
  const Choice& next = m_next[static_cast<std::size_t>(from)];
  return static_cast<double>(next.weight(static_cast<std::int32_t>(to))) / static_cast<double>(next.total);
}

double Hmm::emission(index_t state, std::int32_t word) const {
  const auto part = [word](const Choice& c) {
    return static_cast<double>(c.weight(word)) / static_cast<double>(c.total);
  };
  const double common = static_cast<double>(m_common_share) / static_cast<double>(share_unit);
  return (1 - common) * part(m_words[static_cast<std::size_t>(state)]) + common * part(m_common);
}

double Hmm::cross_entropy(std::span<const std::int32_t> text) const {
  const std::size_t states = m_words.size();
  std::vector<double> emissions(states * static_cast<std::size_t>(m_options.vocabulary));  // [word][state]
  for (std::size_t e = 0; e < emissions.size(); ++e) {
    emissions[e] = emission(static_cast<index_t>(e % states), static_cast<std::int32_t>(e / states));
  }
  // ahead[s]: probability that the next word comes from state s, given the words so far.
  std::vector<double> ahead(states, 1.0 / static_cast<double>(states)), moved(states);
  double sum = 0;
  for (std::size_t t = 0; t < text.size(); ++t) {
    const double* emitted = emissions.data() + static_cast<std::size_t>(text[t]) * states;
    double p = 0;
    for (std::size_t s = 0; s < states; ++s) p += ahead[s] *= emitted[s];
    if (t > 0) sum -= std::log(p);
    std::fill(moved.begin(), moved.end(), 0.0);
    for (std::size_t s = 0; s < states; ++s) {
      const Choice& next = m_next[s];
      const double share = ahead[s] / (p * static_cast<double>(next.total));
      for (std::size_t k = 0; k < next.values.size(); ++k) {
        moved[static_cast<std::size_t>(next.values[k])] += share * static_cast<double>(next.weights[k]);
      }
    }
    ahead.swap(moved);
  }
  return text.size() < 2 ? 0 : sum / static_cast<double>(text.size() - 1);
}

}  // namespace gradcomp::data
