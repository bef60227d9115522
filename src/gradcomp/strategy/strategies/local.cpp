// local: every rank updates its own parameters with its own gradients for `period` steps. Then the change of the
// parameters replaces the gradient in the same reductions, with the same compressors and feedback, and an outer
// optimiser takes the mean of the changes (local SGD: Stich, ICLR 2019; with an outer momentum it is SlowMo: Wang et
// al., ICLR 2020; with Nesterov's and AdamW inside it is DiLoCo: Douillard et al., 2023).
//
//   D = start - parameters;  start -= outer_rate (outer momentum of mean D);  parameters = start
//
// outer_rate=1 without a momentum takes the mean of the replicas. With these values and period=1, the gradient itself
// is exchanged and the inner optimiser takes its mean: this is the strategy overlapped, bit for bit. The running
// statistics of batch norms are averaged at every exchange, uncompressed. If a rank's own gradient is not finite, its
// change is not either, and the next exchange ends the run.
//
// adaptive=loss is AdaComm (detail/adaptive_period.hpp). `period` is then the first and longest period. Ranks exchange
// at its multiples in any case, and a result's times and bytes are means over it. inner=mean is the control for an
// outer momentum: all ranks take the mean gradient in every step, and the outer optimiser, which then needs no
// exchange, makes a step every `period` steps (detail/outer_only.hpp).
#include <cmath>

#include "gradcomp/comm/over_ranks.hpp"
#include "gradcomp/kernels/lanes/elementwise.hpp"
#include "gradcomp/strategy/detail/adaptive_period.hpp"
#include "gradcomp/strategy/detail/every_step.hpp"
#include "gradcomp/strategy/detail/outer_only.hpp"
#include "gradcomp/strategy/detail/subtract.hpp"
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::strategies {
namespace {

AdaptivePeriod adaptive_period(const ParameterValues& own) {
  const std::string& rule = own.text("adaptive");
  return {own.integer("period"), rule == "off" ? 0 : own.integer("adapt_every"), rule == "loss_and_rate"};
}

class Local final : public Strategy {
 public:
  explicit Local(const StrategySetup& setup)
      : m_longest(setup.own.integer("period")),
        m_period(adaptive_period(setup.own)),
        m_outer_rate(setup.own.real("outer_rate")),
        m_seed(setup.job.exchange.seed),
        m_exchange(make_exchange(setup.method, setup.layout, setup.transport, exchange_options(setup, true))),
        m_inner(setup.layout, {setup.layout.count()}, setup.job.update),
        m_outer(setup.layout, {setup.layout.count()}, outer_options(setup.own)),
        m_start("gradcomp::strategy::local::start", static_cast<std::size_t>(setup.layout.count())),
        m_change("gradcomp::strategy::local::change", m_start.size()),
        m_mean("gradcomp::strategy::local::mean", m_start.size()) {}

  std::string name() const override { return "local"; }
  index_t period() const override { return m_longest; }

  void begin(const Exec& exec, const StepContext& context) override {
    m_now = context;
    if (m_counters.steps == 0) Kokkos::deep_copy(exec, m_start, context.parameters);
  }
  void gradient_ready(const Exec&, std::size_t) override {}
  StepReport end(const Exec& exec, const Idle& idle) override {
    StepReport report;
    update_locally(exec);
    ++m_counters.steps;
    m_counters.in_longest = (m_counters.in_longest + 1) % m_longest;
    if (m_counters.steps >= m_period.period() || m_counters.in_longest == 0) {
      m_counters.steps = 0;
      const index_t sent_before = m_exchange->sent();
      report = agree(exec, idle);
      if (m_period.is_due()) adapt();
      report.wire_bytes = m_exchange->sent() - sent_before;  // with those of the buffers and of the period
    }
    return report;
  }
  void observe(double loss) override {
    if (m_period.is_adaptive()) m_period.add(loss);
  }
  index_t diverged() override { return m_exchange->diverged() ? m_now.step : -1; }
  Span<const float> agreed(const Span<const float>& parameters) const override {
    return m_counters.steps == 0 ? parameters : Span<const float>(m_start);
  }

  Memories memories() override;
  index_t work_bytes() const override {
    return m_exchange->work_bytes() + 4 * static_cast<index_t>(m_change.size() + m_mean.size());
  }

 private:
  void update_locally(const Exec& exec) {
    const StageScope stage(exec, m_now.timeline, Stage::update);
    m_inner.observe(exec, 0, m_now.gradient);
    m_inner.apply(exec, m_now.rate, m_now.parameters, m_now.gradient);
  }

  /// Exchanges the changes and makes the outer update.
  StepReport agree(const Exec& exec, const Idle& idle) {
    subtract(exec, m_start, m_now.parameters, m_change);
    Context context = m_now.context(m_exchange->transport(), m_seed);
    context.rate = 1;
    context.exchange = m_counters.exchanges++;
    m_exchange->begin(exec, m_change, m_mean, context, m_now.timeline);
    m_exchange->gradient_ready(exec, 0);
    m_exchange->finish(exec, idle);
    const StageScope stage(exec, m_now.timeline, Stage::update);
    m_outer.apply(exec, m_outer_rate, m_start, m_mean);
    Kokkos::deep_copy(exec, m_now.parameters, m_start);
    average_buffers(exec);
    return m_exchange->report();
  }

  /// Renews the period. Costs one small reduction every adapt_every steps.
  void adapt() {
    constexpr double millionths = 1e6;
    const auto sums = sum_over_ranks(
        m_exchange->transport(), std::vector<index_t>{std::llround(millionths * m_period.loss()), m_period.counted()});
    m_period.renew(static_cast<double>(sums[0]) / millionths / static_cast<double>(sums[1]), m_now.rate);
  }

  void average_buffers(const Exec& exec) {
    const Span<float>& x = m_now.buffers;
    if (x.size() == 0) return;
    Transport& transport = m_exchange->transport();
    run(transport, exec, AllReduce{x.data(), x.data(), static_cast<index_t>(x.size()), DType::f32, ReduceOp::sum});
    kernels::scale(exec, x, 1.0f / static_cast<float>(transport.size()));
  }

  /// Numbers that a checkpoint holds as they are.
  struct Counters {
    index_t steps = 0;       ///< number of steps since the last exchange
    index_t in_longest = 0;  ///< number of steps since the last multiple of the longest period
    index_t exchanges = 0;
  };

  index_t m_longest;
  AdaptivePeriod m_period;
  double m_outer_rate;
  std::uint64_t m_seed;
  std::unique_ptr<Exchange> m_exchange;
  Updater m_inner, m_outer;
  Vector<float> m_start;   ///< parameters at the start of the period, which are equal on all ranks
  Vector<float> m_change;  ///< since m_start
  Vector<float> m_mean;
  StepContext m_now;
  Counters m_counters;
};

Memories Local::memories() {
  Memories all = m_exchange->memories();
  for (MemoryView& memory : m_inner.memories()) {
    memory.name = "inner/" + memory.name;
    all.push_back(std::move(memory));
  }
  for (MemoryView& memory : m_outer.memories()) {
    memory.name = "outer/" + memory.name;
    all.push_back(std::move(memory));
  }
  all.push_back(memory_of(Role::strategy, m_start, "start"));
  all.push_back({"steps", &m_counters, sizeof m_counters, true, Role::strategy, -1, [this] {
                   return m_counters.steps >= 0 && m_counters.steps <= m_counters.in_longest &&
                          m_counters.in_longest < m_longest && is_count(m_counters.exchanges);
                 }});
  all.push_back({"period", &m_period.numbers(), sizeof m_period.numbers(), true, Role::strategy, -1,
                 [this] { return m_period.numbers_fit(); }});
  return all;
}

}  // namespace

StrategyEntry local() {
  return {"local",
          "every rank makes its own updates for several steps, then ranks exchange the changes (local SGD, DiLoCo)",
          with_common(
              {Parameter::integer("period", "8", 1, 1000000, "steps from one exchange to the next"),
               Parameter::real("outer_rate", "1", 0, 100, "learning rate of the outer optimiser, SGD", true),
               Parameter::real("outer_momentum", "0", 0, 0.9999, "momentum of the outer optimiser"),
               Parameter::choice("outer_nesterov", "off", {"off", "on"}, "Nesterov momentum in the outer optimiser"),
               Parameter::choice("adaptive", "off", {"off", "loss", "loss_and_rate"},
                                 "AdaComm; loss: the period falls with the loss; loss_and_rate: it also "
                                 "depends on the learning rate"),
               Parameter::integer("adapt_every", "64", 1, 1000000, "steps from one change of the period to the next"),
               Parameter::choice("inner", "own", {"own", "mean"},
                                 "gradients of the updates between exchanges; own: of the rank; mean: of all "
                                 "ranks, in every step")}),
          [](const StrategySetup& setup) -> std::unique_ptr<Strategy> {
            const ParameterValues& own = setup.own;
            const bool plain = own.real("outer_rate") == 1 && own.real("outer_momentum") == 0;
            if (own.text("inner") == "mean") return make_outer_only(setup);
            if (own.integer("period") == 1 && plain) return std::make_unique<EveryStep>(setup, true);
            return std::make_unique<Local>(setup);
          }};
}

}  // namespace gradcomp::strategies
