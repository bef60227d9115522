#include "gradcomp/compressors/detail/count_search.hpp"

#include <algorithm>
#include <cmath>

namespace gradcomp::compressors {
namespace {

std::int32_t bits(double value) { return kernels::magnitude(static_cast<float>(value)); }

}  // namespace

CountSearch::CountSearch(const CountGoal& goal, const kernels::Moments& moments, std::int32_t guess, double octaves)
    : m_goal(goal), m_guess(guess), m_reach(static_cast<std::int32_t>(octaves * 0x1p23)) {
  const double sum = moments.sum_abs, k = static_cast<double>(goal.k), nonzeros = static_cast<double>(moments.nonzeros);
  const double largest = static_cast<double>(Kokkos::bit_cast<float>(moments.max_bits));
  m_low = bits(std::max(sum - k * largest, 0x1p-10 * sum) / nonzeros);
  m_high = bits(std::min(largest, sum / k));
}

bool CountSearch::done() const {
  const bool found = m_best && m_count <= m_goal.most;
  return found || m_goal.reads == 0 || m_high - m_low <= 1;
}

kernels::Probes CountSearch::probes() const {
  kernels::Probes probes = kernels::no_probes;
  if (done()) return probes;
  const bool guessing = m_guess > m_low && m_guess < m_high;
  const std::int64_t low = guessing ? m_guess - m_reach : m_low, high = guessing ? m_guess + m_reach : m_high;
  for (int p = 0; p < kernels::most_probes; ++p) {
    // of a guess both ends are looked at, of an interval what lies between its ends
    const std::int64_t at = guessing ? low + (high - low) * p / (kernels::most_probes - 1)
                                     : low + (high - low) * (p + 1) / (kernels::most_probes + 1);
    probes[static_cast<std::size_t>(p)] = static_cast<std::int32_t>(std::clamp<std::int64_t>(at, m_low, m_high));
  }
  return probes;
}

double CountSearch::distance(index_t count) const {
  return std::fabs(std::log(static_cast<double>(std::max<index_t>(count, 1)) / static_cast<double>(m_goal.k)));
}

void CountSearch::advance(const kernels::Counts& counts) {
  const kernels::Probes looked_at = probes();
  for (std::size_t p = 0; p < looked_at.size(); ++p) {
    const std::int32_t at = looked_at[p];
    const index_t count = counts[p];
    if (count < m_goal.least) {
      m_high = std::min(m_high, at);
    } else {
      if (count > m_goal.most) m_low = std::max(m_low, at);
      const bool better = !m_best || distance(count) < distance(m_count);
      if (count > m_goal.limit || !better) continue;
      m_best = at;
      m_count = count;
    }
  }
  m_guess = -1;
  --m_goal.reads;
}

}  // namespace gradcomp::compressors
