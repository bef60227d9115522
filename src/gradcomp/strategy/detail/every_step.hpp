#pragma once
// What strategies share that exchange the gradient of every step: the exchange and the update of one step.
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp {

/// Options of every strategy, behind its own.
std::vector<Parameter> with_common(std::vector<Parameter> own);

/// The job's exchange options with those of the strategy's own.
ExchangeOptions exchange_options(const StrategySetup& setup, bool overlapped);

/// Elements of the exchange's buckets, in the order of the layout.
std::vector<index_t> parts_of(const Exchange& exchange);

class EveryStep final : public Strategy {
 public:
  EveryStep(const StrategySetup& setup, bool overlapped);

  std::string name() const override { return m_overlapped ? "overlapped" : "synchronous"; }
  void begin(const Exec& exec, const StepContext& context) override;
  void ready(const Exec& exec, std::size_t first_segment) override { m_exchange->ready(exec, first_segment); }
  StepReport end(const Exec& exec, const Idle& idle) override;
  StepReport drain(const Exec& exec) override {
    m_exchange->resolve(exec);
    return {};
  }
  Memories memories() override;
  index_t work_bytes() const override;

 private:
  bool m_overlapped;
  std::unique_ptr<Exchange> m_exchange;
  Updater m_updater;
  Vector<float> m_mean;  ///< empty where the mean takes the gradient's place
  StepContext m_now;
};

}  // namespace gradcomp
