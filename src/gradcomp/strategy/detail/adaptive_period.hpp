#pragma once
// AdaComm (Wang & Joshi, Adaptive communication strategies to achieve the best error-runtime trade-off in local-update
// SGD, MLSys 2019, section 4): the period is long while the loss is high, and falls with it. The authors renew it after
// so many seconds; here it is renewed after so many steps, so that a run can be repeated.
#include <cmath>

#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// The next period: ceil(sqrt(loss / first_loss * rate_ratio) * first), or ceil(period / 2) if that is not below
/// `period`; at least 1. `loss`: mean of the interval that ends. `first_loss`: mean of the first interval.
/// `rate_ratio`: first learning rate / current one (their equation 20), or 1.
index_t next_period(index_t period, index_t first, double loss, double first_loss, double rate_ratio = 1);

/// The schedule of one training. All ranks make the same calls with the same numbers.
class AdaptivePeriod {
 public:
  /// `every`: steps between renewals; 0: the period stays. `with_rate`: whether it depends on the learning rate.
  AdaptivePeriod(index_t first, index_t every, bool with_rate)
      : m_first(first), m_every(every), m_with_rate(with_rate) {
    m_now.period = first;
  }

  index_t period() const { return m_now.period; }
  bool is_adaptive() const { return m_every > 0; }
  /// Call it after a step with this training loss on this rank. The loss counts if it is finite.
  void add(double loss) {
    ++m_now.steps;
    if (!std::isfinite(loss)) return;
    m_now.loss += loss;
    ++m_now.counted;
  }
  /// Whether the interval is over, so that renew() must be called.
  bool is_due() const { return m_every > 0 && m_now.steps >= m_every; }
  /// Sum of the losses of this rank in this interval.
  double loss() const { return m_now.loss; }
  index_t counted() const { return m_now.counted; }
  /// Begins the next interval. `mean_loss`: mean over ranks of the interval that ends. `rate`: the learning rate.
  void renew(double mean_loss, double rate);

  /// Numbers that a checkpoint holds as they are.
  struct Numbers {
    index_t period = 1, steps = 0, counted = 0;
    double loss = 0, first_loss = 0, first_rate = 0;
  };
  Numbers& numbers() { return m_now; }
  /// Whether a schedule can have these numbers.
  bool numbers_fit() const {
    return m_now.period >= 1 && m_now.period <= m_first && m_now.counted >= 0 && m_now.counted <= m_now.steps &&
           (m_every == 0 || m_now.steps <= m_every + m_first) && std::isfinite(m_now.loss);
  }

 private:
  index_t m_first, m_every;
  bool m_with_rate;
  Numbers m_now;
};

}  // namespace gradcomp
