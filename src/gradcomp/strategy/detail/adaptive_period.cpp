#include "gradcomp/strategy/detail/adaptive_period.hpp"

#include <algorithm>
#include <cmath>

namespace gradcomp {

index_t next_period(index_t period, index_t first, double loss, double first_loss, double rate_ratio) {
  const double wanted = std::ceil(std::sqrt(loss / first_loss * rate_ratio) * static_cast<double>(first));
  const bool shorter = wanted < static_cast<double>(period);  // false if it is NaN
  return std::max<index_t>(1, shorter ? static_cast<index_t>(wanted) : (period + 1) / 2);
}

void AdaptivePeriod::renew(double mean_loss, double rate) {
  if (m_now.first_loss == 0) {
    m_now.first_loss = mean_loss;
    m_now.first_rate = rate;
  } else {
    const double ratio = m_with_rate ? m_now.first_rate / rate : 1;
    m_now.period = next_period(m_now.period, m_first, mean_loss, m_now.first_loss, ratio);
  }
  m_now.loss = 0;
  m_now.steps = m_now.counted = 0;
}

}  // namespace gradcomp
