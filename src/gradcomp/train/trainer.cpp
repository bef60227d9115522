#include "gradcomp/train/trainer.hpp"

#include <optional>
#include <utility>

#include "gradcomp/data/counter_rng.hpp"
#include "gradcomp/feedback/feedback.hpp"
#include "gradcomp/measure/stopwatch.hpp"
#include "gradcomp/nn/accumulate.hpp"

namespace gradcomp::train {
namespace {

ScheduleOptions schedule_options(const Options& options) {
  ScheduleOptions schedule;
  schedule.schedule = options.schedule;
  schedule.bucket_bytes = options.bucket_kib * 1024;
  schedule.seed = options.seed;
  return schedule;
}

/// Momentum is applied once: by the feedback where it holds it, otherwise by the optimiser. Votes are steps of one size
/// (signum has its momentum in front of the signs): summed up by a momentum of 0.9 they would be ten times as long.
auto sgd_options(const Options& options, const MethodSpec& method) {
  const bool votes = method.compressor->info().property == Info::Property::sign;
  const bool momentum = !holds_momentum(method.common) && !votes;
  return nn::SgdOptions{momentum ? options.momentum : 0, momentum && options.nesterov, options.weight_decay};
}

nn::Schedule rate_schedule(const Options& options, double rate) {
  nn::Schedule schedule;
  schedule.decay = nn::decay_from_name(options.decay);
  schedule.rate = rate;
  schedule.steps = options.steps;
  schedule.warmup = options.warmup;
  return schedule;
}

/// nn::Batch::key, which no other rank or step shares.
std::uint64_t batch_key(const data::Shard& shard, index_t step) {
  constexpr std::uint64_t stream = 0x4b45;
  return data::CounterRng(shard.seed ^ stream << 48, static_cast<std::uint64_t>(step),
                          static_cast<std::uint64_t>(shard.rank))
      .next();
}

Vector<float> zeros(const char* name, index_t count) { return {name, static_cast<std::size_t>(count)}; }

}  // namespace

Trainer::Trainer(const Job& job, const Contender& contender)
    : m_job(job),
      m_parameters(zeros("gradcomp::train::parameters", job.model.layout().count())),
      m_gradient(zeros("gradcomp::train::gradient", job.model.layout().count())),
      m_mean(zeros("gradcomp::train::mean", job.model.layout().count())),
      m_state(zeros("gradcomp::train::state", job.model.state_count())),
      m_test_state(zeros("gradcomp::train::test_state", job.model.state_count())),
      m_sgd(job.model.layout(), sgd_options(job.options, contender.spec)),
      m_clip(job.model.layout().count()),
      m_sum(zeros("gradcomp::train::gradient_sum", contender.accumulate > 1 ? job.model.layout().count() : 0)),
      m_schedule(make_schedule(contender.spec, job.model.layout(), job.link, schedule_options(job.options))),
      m_dump(job.options, contender.spec, job.control.rank(), job.control.size()),
      m_loader(std::make_unique<data::Loader>(job.task.training(job.shard()))),
      m_epoch_steps(job.task.steps_per_epoch(job.shard())) {
  m_result.contender = contender;
  m_result.metric = Metric(job.task.shape().kind);
  m_result.loss_floor = job.task.loss_floor();
  m_result.target = target_value(job.options.target, m_result.metric);
  m_result.dense_bytes = 4.0 * static_cast<double>(m_parameters.size());
  m_result.samples_per_step = static_cast<double>(job.options.batch * job.control.size());
  const InputShape shape = job.task.shape();
  const index_t labels = job.options.batch * (shape.kind == InputShape::Kind::tokens ? shape.length : 1);
  m_result.rank_gflop = 1e-9 * job.model.step_flops() * static_cast<double>(labels);
  m_rate = rate_schedule(job.options, contender.learning_rate);
  const auto parameters = Kokkos::create_mirror_view(m_parameters);
  const auto state = Kokkos::create_mirror_view(m_state);
  job.model.initialise(job.options.seed, parameters, state);
  Kokkos::deep_copy(m_parameters, parameters);
  Kokkos::deep_copy(m_state, state);
}

StepReport Trainer::train(const Exec& exec, Timeline* timeline) {
  const Span<const float> parameters = m_parameters;
  nn::Batch<float> batch;
  {
    const StageScope stage(timeline, Stage::data);
    batch = m_batch.upload(exec, m_loader->next());
    batch.key = batch_key(m_job.shard(), m_now.step);
  }
  {
    const StageScope stage(timeline, Stage::forward);
    m_job.model.forward(exec, parameters, m_state, batch);
  }
  const bool updates = (m_now.step + 1) % m_result.contender.accumulate == 0;
  if (updates) m_schedule->begin_step(exec, m_gradient, m_now.step, timeline);
  backward(exec, timeline, updates);
  if (!updates) return {};
  const StepReport report = m_schedule->end_step(exec, m_mean);
  if (!report.skipped) {
    const StageScope stage(timeline, Stage::update);
    if (m_job.options.clip > 0) m_clip.run(exec, m_mean, m_job.options.clip);
    m_sgd.step(exec, m_rate.at(m_now.step), m_parameters, Span<const float>(m_mean));
  }
  return report;
}

void Trainer::backward(const Exec& exec, Timeline* timeline, bool updates) {
  std::optional<StageScope> stage(std::in_place, timeline, Stage::backward);
  const auto& segments = m_job.model.layout().segments;
  const index_t batches = m_result.contender.accumulate;
  index_t end = m_job.model.layout().count();  // elements from here on are complete
  m_job.model.backward(exec, m_parameters, m_gradient, [&](std::size_t first) {
    if (batches > 1) nn::accumulate(exec, m_sum, m_gradient, segments[first].offset, end, batches, updates);
    end = segments[first].offset;
    if (!updates) return;
    stage.reset();  // what the schedule does here is timed as stages of its own
    m_schedule->on_ready(exec, first);
    stage.emplace(timeline, Stage::backward);
  });
}

void Trainer::step(const Exec& exec, bool warmup) {
  const index_t batches = m_result.contender.accumulate;
  if (m_now.step % batches == 0) {
    m_group_warm = warmup;
    m_group_s = 0;
  }
  const bool last = (m_now.step + 1) % batches == 0;
  if (m_dump.wanted(m_now.step)) m_dump.keep_memories(exec, *m_schedule);
  exec.fence("gradcomp::train::step");
  m_job.control.barrier();
  Stopwatch watch(exec);  // no barrier at its end: the slowest rank's time is found in finish()
  watch.start();
  if (!m_group_warm && m_now.step % batches == 0) m_timeline.begin_step();
  const StepReport report = train(exec, m_group_warm ? nullptr : &m_timeline);
  if (!m_group_warm && last) m_timeline.end_step();
  const double seconds = watch.stop();
  m_group_s += seconds;
  if (!m_group_warm && last) m_local_ms.push_back(1e3 * m_group_s / static_cast<double>(batches));
  m_now.time_s += seconds;
  m_now.payload_bytes += static_cast<double>(report.payload_bytes);
  m_now.header_bytes += static_cast<double>(report.header_bytes);
  m_now.wire_bytes += static_cast<double>(report.wire_bytes);
  m_now.skipped_steps += report.skipped ? 1 : 0;
  m_result.density_ratio.insert(m_result.density_ratio.end(), report.density_ratio.begin(), report.density_ratio.end());
  m_now.loss += m_job.model.loss(exec);
  if (m_dump.wanted(m_now.step)) m_dump.write(exec, m_gradient, m_now.step);
  ++m_now.step;
  if (m_now.step % m_epoch_steps == 0) check_replicas();
}

}  // namespace gradcomp::train
