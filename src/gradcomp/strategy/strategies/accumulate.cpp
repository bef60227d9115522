// accumulate: sums the gradients of several steps, and exchanges and applies their mean once. It is a control that
// sends as little as a compressor, by exchanging rarely. Parameters stay the same between two exchanges.
#include "gradcomp/nn/optimisers/accumulate.hpp"

#include "gradcomp/strategy/detail/every_step.hpp"
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::strategies {
namespace {

class Accumulate final : public Strategy {
 public:
  Accumulate(const StrategySetup& setup, index_t every, bool overlapped)
      : m_layout(setup.layout),
        m_every(every),
        m_inner(setup, overlapped),
        m_sum("gradcomp::strategy::gradient_sum", static_cast<std::size_t>(setup.layout.count())) {}

  std::string name() const override { return "accumulate"; }
  index_t period() const override { return m_every; }
  index_t evaluation_period() const override { return 1; }  // replicas agree after every step

  void begin(const Exec& exec, const StepContext& context) override {
    m_now = context;
    m_updates = (context.step + 1) % m_every == 0;
    m_end = m_layout.count();
    m_now.exchange = context.step / m_every;
    if (m_updates) m_inner.begin(exec, m_now);
  }
  void gradient_ready(const Exec& exec, std::size_t first_segment) override {
    const index_t begin =
        first_segment < m_layout.segments.size() ? m_layout.segments[first_segment].offset : m_layout.count();
    nn::accumulate(exec, m_sum, m_now.gradient, begin, m_end, m_every, m_updates);
    m_end = begin;
    if (m_updates) m_inner.gradient_ready(exec, first_segment);
  }
  StepReport end(const Exec& exec, const Idle& idle) override {
    gradient_ready(exec, 0);
    return m_updates ? m_inner.end(exec, idle) : StepReport{};
  }
  index_t diverged() override { return m_inner.diverged(); }
  Memories memories() override {
    Memories all = m_inner.memories();
    all.push_back(memory_of(Role::strategy, m_sum, "gradient_sum"));
    return all;
  }
  index_t work_bytes() const override { return m_inner.work_bytes(); }

 private:
  Layout m_layout;
  index_t m_every;
  EveryStep m_inner;
  Vector<float> m_sum;  ///< of the gradients since the last update
  StepContext m_now;
  index_t m_end = 0;  ///< elements from here on are already summed in this step
  bool m_updates = false;
};

}  // namespace

StrategyEntry accumulate() {
  return {"accumulate", "sums the gradients of several steps and exchanges their mean once",
          with_common({Parameter::integer("every", "4", 1, 1000000, "steps from one exchange to the next"),
                       Parameter::choice("overlap", "on", {"on", "off"}, "whether the exchange overlaps backward")}),
          [](const StrategySetup& setup) {
            return std::make_unique<Accumulate>(setup, setup.own.integer("every"), setup.own.text("overlap") == "on");
          }};
}

}  // namespace gradcomp::strategies
