#include "gradcomp/train/trainer.hpp"

#include <algorithm>
#include <utility>

#include "gradcomp/comm/agree.hpp"
#include "gradcomp/comm/over_ranks.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/data/counter_rng.hpp"
#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/measure/stopwatch.hpp"

namespace gradcomp::train {
namespace {

nn::LearningRate rate_schedule(const Options& options, double rate) {
  nn::LearningRate schedule;
  schedule.decay = nn::decay_from_name(options.decay);
  schedule.rate = rate;
  schedule.steps = options.steps;
  schedule.warmup = options.warmup;
  return schedule;
}

StrategyOptions strategy_options(const Options& options, const Contender& contender) {
  StrategyOptions o = options.strategy_options();
  if (contender.bucket_kib) o.exchange.bucket_bytes = 1024 * *contender.bucket_kib;
  return o;
}

/// nn::Batch::key, which no other rank or step shares.
std::uint64_t batch_key(const data::Shard& shard, index_t step) {
  constexpr std::uint64_t stream = 0x4b45;
  return data::CounterRng(shard.seed ^ stream << 48, static_cast<std::uint64_t>(step),
                          static_cast<std::uint64_t>(shard.rank))
      .next();
}

Straggler straggler_of(const Job& job) {
  const auto straggler = StragglerOptions::parse(job.options.straggler);
  if (straggler.rank >= job.control.size()) {
    throw AgreedError(fmt::format("--straggler {} is not allowed: there are {} ranks, from 0", job.options.straggler,
                                  job.control.size()));
  }
  return {straggler, job.options.seed, job.control.rank()};
}

}  // namespace

Trainer::Trainer(const Job& job, const Contender& contender)
    : m_job(job),
      m_parameters(kernels::zeroed<float>("gradcomp::train::parameters", job.model.layout().count())),
      m_gradient(kernels::zeroed<float>("gradcomp::train::gradient", job.model.layout().count())),
      m_buffers(kernels::zeroed<float>("gradcomp::train::buffers", job.model.buffer_count())),
      m_test_buffers(kernels::zeroed<float>("gradcomp::train::test_buffers", job.model.buffer_count())),
      m_strategy(make_strategy(contender.spec, job.model.layout(), job.model.buffer_count(), job.transport,
                               strategy_options(job.options, contender))),
      m_dump(job.options, contender.spec, job.model.layout(), job.control.rank(), settled_job().workers()),
      m_loss_dump(m_job, contender.spec),
      m_straggler(straggler_of(job)),
      m_batches(m_job, contender),
      m_epoch_steps(job.task.steps_per_epoch(m_job.shard())) {
  m_result.contender = contender;
  m_result.strategy = m_strategy->name();
  m_result.period = m_strategy->period();
  m_result.metric = Metric(job.task.shape().kind);
  m_result.loss_floor = job.task.loss_floor();
  m_result.target = target_value(job.options.target, m_result.metric);
  m_result.dense_bytes = 4.0 * static_cast<double>(m_parameters.size());
  m_result.ranks = job.control.size();
  m_result.workers = m_job.workers();
  m_result.samples_per_step = static_cast<double>(job.options.batch * m_job.workers());
  const InputShape shape = job.task.shape();
  const index_t labels = job.options.batch * (shape.kind == InputShape::Kind::tokens ? shape.length : 1);
  m_result.rank_gflop = 1e-9 * job.model.step_flops() * static_cast<double>(labels);
  m_rate = rate_schedule(job.options, contender.learning_rate);
  const auto parameters = Kokkos::create_mirror_view(m_parameters);
  const auto buffers = Kokkos::create_mirror_view(m_buffers);
  job.model.initialise(job.options.seed, parameters, buffers);
  Kokkos::deep_copy(m_parameters, parameters);
  Kokkos::deep_copy(m_buffers, buffers);
}

const Job& Trainer::settled_job() {
  m_job.dedicated_ranks = m_strategy->dedicated_ranks();
  return m_job;
}

void Trainer::dump_batches(const Exec& exec) {
  if (m_job.dedicated_ranks > 0) {
    throw AgreedError(
        fmt::format("method '{}': with --dump-batches every rank must train; allowed: strategy.dedicated=off",
                    m_result.contender.spec.label));
  }
  m_batch_dump.emplace(exec, m_job, m_parameters);
}

void Trainer::check_period() const {
  const Options& o = m_job.options;
  const auto check = [&](const char* option, index_t steps, index_t divisor) {
    if (steps % divisor == 0) return;
    throw AgreedError(fmt::format("{} {} is not allowed: strategy {} of method '{}' needs a multiple of {} steps",
                                  option, steps, m_result.strategy, m_result.contender.spec.label, divisor));
  };
  check("--steps", o.steps, period());
  check("--block", o.block, period());
  if (o.evaluate_every > 0) check("--evaluate-every", o.evaluate_every, evaluation_period());
}

/// False on ranks that only serve, and where a strategy that is not in step has shown that the run must end: there the
/// rank goes on without batches, as others may need it, until all ranks meet.
bool Trainer::trains_now() { return m_job.trains() && (m_strategy->in_step() || m_strategy->diverged() < 0); }

/// Ends the run if a strategy has shown it: with ranks that are not in step, at the first step that one of them knows.
void Trainer::end_if_agreed() {
  index_t step = m_strategy->diverged();
  if (!m_strategy->in_step()) {
    const double none = static_cast<double>(m_job.options.steps), own = step < 0 ? none : static_cast<double>(step);
    const double first = min_over_ranks(m_job.control, {own})[0];
    step = first < none ? static_cast<index_t>(first) : -1;
  }
  if (step >= 0 && !ended()) m_now.diverged_at = step + 1;
}

StepReport Trainer::train(const Exec& exec, Timeline* timeline) {
  const StepContext context{m_now.step,
                            m_rate.at(m_now.step),
                            m_gradient,
                            m_parameters,
                            m_job.model.has_statistics() ? Span<float>(m_buffers) : Span<float>(),
                            timeline};
  if (!trains_now()) {
    m_batches.rest();
    m_strategy->begin(exec, context);
    return m_strategy->end(exec, [] { return false; });
  }
  if (m_batches.sampler() != nullptr) m_strategy->make_current(exec, timeline);
  nn::Batch<float> batch = m_batches.next(exec, m_now.step, m_parameters, m_buffers, timeline);
  batch.key = batch_key(m_job.shard(), m_now.step);
  if (m_batch_dump) m_batch_dump->add(exec, batch);
  m_strategy->begin(exec, context);
  forward(exec, batch, timeline);
  backward(exec, timeline);
  StepReport report = m_strategy->end(exec, [&] { return m_batches.evaluate_slice(exec, timeline); });
  m_batches.finish(exec, timeline);
  return report;
}

/// Between steps, so that what moves belongs to no batch. The time counts as the next step's.
void Trainer::reshard(const Exec& exec) {
  drain(exec);
  m_now.wire_bytes += static_cast<double>(m_batches.reshard(exec));
}

void Trainer::forward(const Exec& exec, const nn::Batch<float>& batch, Timeline* timeline) {
  std::optional<StageScope> stage(std::in_place, exec, timeline, Stage::forward);
  m_straggler.begin(m_now.step);
  m_job.model.forward(exec, m_parameters, m_buffers, batch, [&](std::size_t segment) {
    m_straggler.pause(exec);
    stage.reset();  // what the strategy does here is timed as stages of its own
    m_strategy->before_layer(exec, segment);
    stage.emplace(exec, timeline, Stage::forward);
    m_straggler.resume();
  });
}

void Trainer::backward(const Exec& exec, Timeline* timeline) {
  std::optional<StageScope> stage(std::in_place, exec, timeline, Stage::backward);
  m_job.model.backward(exec, m_parameters, m_gradient, [&](std::size_t first) {
    m_straggler.pause(exec);
    stage.reset();
    m_strategy->gradient_ready(exec, first);
    m_strategy->progress(exec);
    stage.emplace(exec, timeline, Stage::backward);
    m_straggler.resume();
  });
}

void Trainer::meet(const Exec& exec) {
  if (m_strategy->in_step() || std::exchange(m_met, true)) return;
  Stopwatch watch(exec);
  watch.start();
  m_strategy->wait_for_others(exec);
  const double seconds = watch.stop();
  m_now.time_s += seconds;
  if (!m_period_untimed && m_now.step % period() == 0)
    m_local_ms.back() += 1e3 * seconds / static_cast<double>(period());
  drain(exec);
}

void Trainer::drain(const Exec& exec) {
  count(m_strategy->drain(exec));
  end_if_agreed();
}

void Trainer::count(const StepReport& report) {
  m_now.payload_bytes += static_cast<double>(report.payload_bytes);
  m_now.header_bytes += static_cast<double>(report.header_bytes);
  m_now.wire_bytes += static_cast<double>(report.wire_bytes);
  m_result.density_ratio.insert(m_result.density_ratio.end(), report.density_ratio.begin(), report.density_ratio.end());
  for (const index_t late : report.staleness) {
    ++m_now.stale_pushes;
    m_now.staleness += late;
    m_now.max_stale = std::max(m_now.max_stale, late);
  }
}

void Trainer::step(const Exec& exec, bool untimed) {
  if (m_now.step % period() == 0) {
    m_period_untimed = untimed;
    m_period_s = 0;
  }
  const bool last = (m_now.step + 1) % period() == 0;
  if (m_dump.wanted(m_now.step)) m_dump.keep_memories(exec, m_strategy->memories(), m_rate.at(m_now.step));
  if (m_loss_dump.wanted(m_now.step)) {
    m_strategy->make_current(exec, nullptr);
    m_loss_dump.write(exec, m_parameters, m_buffers, m_now.step);
  }
  wait(exec, "gradcomp::train::step");
  if (m_strategy->in_step() || std::exchange(m_met, false)) barrier(m_job.control);
  Stopwatch watch(exec);  // no barrier at its end: the slowest rank's time is found in finish()
  watch.start();
  if (!m_period_untimed && m_now.step % period() == 0) m_timeline.begin_step(exec);
  if (m_batches.reshards_before(m_now.step)) reshard(exec);
  const StepReport report = train(exec, m_period_untimed ? nullptr : &m_timeline);
  const double seconds = watch.stop();
  if (!m_period_untimed && last) m_timeline.end_step();
  m_period_s += seconds;
  if (!m_period_untimed && last) {
    m_local_ms.push_back(1e3 * m_period_s / static_cast<double>(period()));
    m_result.step_link.push_back(m_link);
  }
  m_now.time_s += seconds;
  count(report);
  if (m_strategy->in_step()) end_if_agreed();
  if (trains_now() && !ended()) {
    const nn::Loss loss = m_job.model.loss(exec);
    m_strategy->observe(loss.mean());
    m_now.loss += loss;
    if (m_batch_dump) m_batch_dump->add_loss(loss.mean());
  }
  if (m_dump.wanted(m_now.step)) m_dump.write(exec, m_gradient, m_now.step);
  ++m_now.step;
  if (!ended() && m_now.step % m_epoch_steps == 0) {
    meet(exec);
    check_replicas(exec);
  }
}

}  // namespace gradcomp::train
