#include "gradcomp/strategy/detail/outer_only.hpp"

#include <utility>

#include "gradcomp/strategy/detail/every_step.hpp"
#include "gradcomp/strategy/detail/subtract.hpp"

namespace gradcomp {
namespace {

class OuterOnly final : public Strategy {
 public:
  explicit OuterOnly(const StrategySetup& setup)
      : m_period(setup.own.integer("period")),
        m_outer_rate(setup.own.real("outer_rate")),
        m_inner(setup, true),
        m_outer(setup.layout, {setup.layout.count()}, outer_options(setup.own)),
        m_start("gradcomp::strategy::local::start", static_cast<std::size_t>(setup.layout.count())),
        m_change("gradcomp::strategy::local::change", m_start.size()) {}

  std::string name() const override { return "local"; }
  index_t period() const override { return m_period; }
  void begin(const Exec& exec, const StepContext& context) override {
    m_now = context;
    if (m_counters.steps == 0) Kokkos::deep_copy(exec, m_start, context.parameters);
    m_inner.begin(exec, context);
  }
  void gradient_ready(const Exec& exec, std::size_t first_segment) override {
    m_inner.gradient_ready(exec, first_segment);
  }
  StepReport end(const Exec& exec, const Idle& idle) override {
    const StepReport report = m_inner.end(exec, idle);
    if (++m_counters.steps < m_period) return report;
    m_counters.steps = 0;
    const StageScope stage(exec, m_now.timeline, Stage::update);
    subtract(exec, m_start, m_now.parameters, m_change);
    m_outer.apply(exec, m_outer_rate, m_start, m_change);
    Kokkos::deep_copy(exec, m_now.parameters, m_start);
    return report;
  }
  index_t diverged() override { return m_inner.diverged(); }
  Span<const float> agreed(const Span<const float>& parameters) const override {
    return m_counters.steps == 0 ? parameters : Span<const float>(m_start);
  }
  Memories memories() override {
    Memories all = m_inner.memories();
    for (MemoryView& memory : m_outer.memories()) {
      memory.name = "outer/" + memory.name;
      all.push_back(std::move(memory));
    }
    all.push_back(memory_of(Role::strategy, m_start, "start"));
    all.push_back({"steps", &m_counters, sizeof m_counters, true, Role::strategy, -1,
                   [this] { return m_counters.steps >= 0 && m_counters.steps < m_period; }});
    return all;
  }
  index_t work_bytes() const override { return m_inner.work_bytes() + 4 * static_cast<index_t>(m_change.size()); }

 private:
  /// Numbers that a checkpoint holds as they are.
  struct Counters {
    index_t steps = 0;  ///< number of steps since the last outer step
  };

  index_t m_period;
  double m_outer_rate;
  EveryStep m_inner;
  Updater m_outer;
  Vector<float> m_start, m_change;
  StepContext m_now;
  Counters m_counters;
};

}  // namespace

UpdateOptions outer_options(const ParameterValues& own) {
  UpdateOptions outer;
  outer.optimiser.momentum = own.real("outer_momentum");
  outer.optimiser.form = nn::momentum_form(own.text("outer_nesterov"));
  outer.optimiser.weight_decay = 0;  // the inner optimiser applies weight decay
  return outer;
}

std::unique_ptr<Strategy> make_outer_only(const StrategySetup& setup) { return std::make_unique<OuterOnly>(setup); }

}  // namespace gradcomp
