#pragma once
// What strategies that exchange the gradient of every step share: the exchange and the update of one step.
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp {

/// `own`, followed by the parameters that every strategy has.
std::vector<Parameter> with_common(std::vector<Parameter> own);

/// The exchange options of the job, replaced by those that the strategy sets.
ExchangeOptions exchange_options(const StrategySetup& setup, bool overlapped);

/// Number of elements in each of the exchange's buckets, in the order of the layout.
std::vector<index_t> parts_of(const Exchange& exchange);

class EveryStep final : public Strategy {
 public:
  EveryStep(const StrategySetup& setup, bool overlapped);

  std::string name() const override { return m_overlapped ? "overlapped" : "synchronous"; }
  void begin(const Exec& exec, const StepContext& context) override;
  void gradient_ready(const Exec& exec, std::size_t first_segment) override {
    m_exchange->gradient_ready(exec, first_segment);
  }
  StepReport end(const Exec& exec, const Idle& idle) override;
  index_t diverged() override { return m_exchange->diverged() ? m_now.step : -1; }
  Memories memories() override;
  index_t work_bytes() const override;

 private:
  bool m_overlapped;
  std::uint64_t m_seed;
  std::unique_ptr<Exchange> m_exchange;
  Updater m_updater;
  Vector<float> m_mean;  ///< empty if the mean replaces the gradient
  StepContext m_now;
};

}  // namespace gradcomp
