#pragma once
// Checks whether one step of an exchange was right, from what the step did. If a memory tells what was not sent,
// nothing is run again.
#include <vector>

#include "gradcomp/exchange/exchange.hpp"

namespace gradcomp {

/// The check compares what a step of the exchange of `method` started from with what it left behind and returned:
///  - With a feedback: the mean and what stayed in the memories (and with the owners of two_phase) add up to the
///    gradient and the memories before, whatever the method drops or rounds.
///  - Without one: the mean equals, element by element, that of another exchange, which makes the same steps over
///    `control`. If the method takes a residual, a first step with one loses nothing.
///  - Of methods that send signs, the mean holds only signs. For `local`, which reduces nothing, nothing is checked.
class ReductionCheck {
 public:
  /// Collective, as are all functions. `gradient` and `exchange` outlive the check.
  ReductionCheck(const Exec& exec, const MethodSpec& method, const Layout& layout, const Span<const float>& gradient,
                 Exchange& exchange, Transport& control, const ExchangeOptions& options);

  /// Call it before the step that will be checked: keeps what the step starts from.
  void before();
  /// Call it after that step, which was `step`; all steps from 0 on were made on the same gradient. Returns the number
  /// of elements, over all ranks, for which `mean` is wrong.
  index_t wrong(std::int64_t step, const Span<const float>& mean) const;

 private:
  index_t unbalanced(const Span<const float>& mean) const;
  index_t other_than_again(std::int64_t step, const Span<const float>& mean) const;
  index_t over_ranks(index_t own) const;
  void reduce(Exchange& exchange, std::int64_t step, const Span<float>& out) const;

  const Exec& m_exec;
  MethodSpec m_method;
  Layout m_layout;
  Span<const float> m_gradient;
  Exchange& m_exchange;
  Transport& m_control;
  ExchangeOptions m_options;
  std::vector<Feedback> m_before;      ///< [buckets] with the memories at before(); empty without a feedback
  std::vector<Vector<float>> m_owned;  ///< [buckets] what this rank kept as an owner at before()
};

}  // namespace gradcomp
