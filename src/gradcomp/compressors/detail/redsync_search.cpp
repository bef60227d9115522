#include "gradcomp/compressors/detail/redsync_search.hpp"

namespace gradcomp::compressors {

kernels::Probes TrimmedSearch::probes() const {
  kernels::Probes probes = kernels::no_probes;
  for (int p = 0; p < kernels::most_probes && !m_done; ++p)
    probes[static_cast<std::size_t>(p)] = m_scale.at(1 - (m_tried + p + 1) * m_eps);
  return probes;
}

void TrimmedSearch::advance(const kernels::Counts& counts) {
  const kernels::Probes looked_at = probes();
  for (std::size_t p = 0; p < counts.size() && !m_done; ++p) {
    ++m_tried;
    if (counts[p] >= m_k) m_bound = looked_at[p];
    m_done = m_bound >= 0 || looked_at[p] == 0 || m_tried * m_eps > 2;
  }
}

kernels::Probes BinarySearch::probes() const {
  kernels::Probes probes = kernels::no_probes;
  if (m_done) return probes;
  // a heap: probe p has its lower neighbour at 2 p + 1, its upper one at 2 p + 2
  double low[7] = {m_low}, high[7] = {m_high};
  for (std::size_t p = 0; p < 7; ++p) {
    const double middle = (low[p] + high[p]) / 2;
    probes[p] = m_scale.at(middle);
    if (p >= 3) continue;
    low[2 * p + 1] = low[p], high[2 * p + 1] = middle;
    low[2 * p + 2] = middle, high[2 * p + 2] = high[p];
  }
  return probes;
}

void BinarySearch::advance(const kernels::Counts& counts) {
  const kernels::Probes looked_at = probes();
  for (std::size_t p = 0; p < 7 && !m_done;) {
    const index_t count = counts[p];
    const double middle = (m_low + m_high) / 2;
    m_threshold = looked_at[p];
    const bool hit = m_k < count && count < 2 * m_k, few = 2 * count < m_k;
    if (!hit) (few ? m_high : m_low) = middle;
    m_done = hit || !(m_high - m_low > m_eps);
    p = few ? 2 * p + 1 : 2 * p + 2;
  }
}

}  // namespace gradcomp::compressors
