#include "gradcomp/data/sampler.hpp"

#include <numeric>
#include <utility>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/counter_rng.hpp"

namespace gradcomp::data {
namespace {

/// Stream (CounterRng's `a`) that separates the draws for shuffling from all others.
constexpr std::uint64_t shuffle_stream = 0x5348;

}  // namespace

std::vector<index_t> shuffled(index_t count, std::uint64_t seed, index_t epoch) {
  std::vector<index_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), index_t{0});
  CounterRng rng(seed, shuffle_stream, static_cast<std::uint64_t>(epoch));
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

Sampler::Sampler(const SamplerOptions& options) : m_options(options), m_steps(0) {
  require(options.batch >= 1, "batch {} is not allowed; at least 1 sample per rank", options.batch);
  require(options.ranks >= 1 && options.rank >= 0 && options.rank < options.ranks,
          "rank {} of {} ranks is not allowed; at least 1 rank, numbered from 0", options.rank, options.ranks);
  const index_t global = options.batch * options.ranks;
  m_steps = options.samples / global;
  require(m_steps >= 1, "a global batch of {} ({} ranks x {}) is more than the {} training samples", global,
          options.ranks, options.batch, options.samples);
}

void Sampler::batch(index_t step, std::vector<index_t>& indices) {
  if (epoch(step) != m_epoch) {
    m_epoch = epoch(step);
    m_order = shuffled(m_options.samples, m_options.seed, m_epoch);
  }
  const index_t ranks = m_options.ranks;
  const index_t first = (step % m_steps) * m_options.batch * ranks + m_options.rank;
  indices.resize(static_cast<std::size_t>(m_options.batch));
  for (index_t i = 0; i < m_options.batch; ++i) {
    indices[static_cast<std::size_t>(i)] = m_order[static_cast<std::size_t>(first + i * ranks)];
  }
}

}  // namespace gradcomp::data
