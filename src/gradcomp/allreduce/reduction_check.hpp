#pragma once
// Whether one step of an exchange was right, by what it did: nothing is run again where a memory says what was not
// sent.
#include <vector>

#include "gradcomp/exchange/exchange.hpp"

namespace gradcomp {

/// Out of what a step of the exchange of `method` started from, left behind and returned:
///  - with a feedback: mean + what stayed in the memories (and with the owners of two_phase) is the gradient with what
///    was there before, whatever the method drops or rounds;
///  - without one: the mean is that of another exchange, which makes the same steps over `control`, element by element;
///    and the same method with a residual, where it takes one, loses nothing in a first step;
///  - of signs: the mean has signs alone; of `local`, which reduces nothing: nothing is checked.
class ReductionCheck {
 public:
  /// Collective, as all functions are. `gradient` and `exchange` outlive the check.
  ReductionCheck(const Exec& exec, const MethodSpec& method, const Layout& layout, const Span<const float>& gradient,
                 Exchange& exchange, Transport& control, const ExchangeOptions& options);

  /// Ahead of the step that will be checked: keeps what it starts from.
  void before();
  /// After it, which was `step`, all from 0 on having been made on the same gradient. Elements, over all ranks, where
  /// `mean` is wrong.
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
  std::vector<Feedback> m_before;      ///< of each bucket, with the memories of before(); empty without a feedback
  std::vector<Vector<float>> m_owned;  ///< likewise, what this rank keeps as an owner
};

}  // namespace gradcomp
