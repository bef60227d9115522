#include "gradcomp/train/trainer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "gradcomp/comm/over_ranks.hpp"
#include "gradcomp/data/counter_rng.hpp"
#include "gradcomp/feedback/feedback.hpp"
#include "gradcomp/measure/stopwatch.hpp"
#include "gradcomp/train/evaluation.hpp"

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

Trainer::Trainer(const Job& job, const MethodSpec& method)
    : m_job(job),
      m_parameters(zeros("gradcomp::train::parameters", job.model.layout().count())),
      m_gradient(zeros("gradcomp::train::gradient", job.model.layout().count())),
      m_mean(zeros("gradcomp::train::mean", job.model.layout().count())),
      m_state(zeros("gradcomp::train::state", job.model.state_count())),
      m_test_state(zeros("gradcomp::train::test_state", job.model.state_count())),
      m_sgd(job.model.layout(), sgd_options(job.options, method)),
      m_clip(job.model.layout().count()),
      m_schedule(make_schedule(method, job.model.layout(), job.link, schedule_options(job.options))),
      m_dump(job.options, method, job.control.rank(), job.control.size()),
      m_loader(job.task.training(job.shard())) {
  m_result.spec = method;
  m_result.metric = Metric(job.task.shape().kind);
  m_result.learning_rate = method.learning_rate(job.options.learning_rate);
  m_result.dense_bytes = 4.0 * static_cast<double>(m_parameters.size());
  m_result.samples_per_step = static_cast<double>(job.options.batch * job.control.size());
  m_result.rank_gflop = 1e-9 * job.model.step_flops() * static_cast<double>(job.options.batch);
  m_rate = rate_schedule(job.options, m_result.learning_rate);
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
    const data::Batch& next = m_loader.next();
    batch = m_batch.upload(exec, next);
    batch.key = batch_key(m_job.shard(), m_step);
  }
  {
    const StageScope stage(timeline, Stage::forward);
    m_job.model.forward(exec, parameters, m_state, batch);
  }
  m_schedule->begin_step(exec, m_gradient, m_step, timeline);
  {
    std::optional<StageScope> stage(std::in_place, timeline, Stage::backward);
    m_job.model.backward(exec, parameters, m_gradient, [&](std::size_t segment) {
      stage.reset();  // what the schedule does here is timed as stages of its own
      m_schedule->on_ready(exec, segment);
      stage.emplace(timeline, Stage::backward);
    });
  }
  const StepReport report = m_schedule->end_step(exec, m_mean);
  if (!report.skipped) {
    const StageScope stage(timeline, Stage::update);
    if (m_job.options.clip > 0) m_clip.run(exec, m_mean, m_job.options.clip);
    m_sgd.step(exec, m_rate.at(m_step), m_parameters, Span<const float>(m_mean));
  }
  return report;
}

void Trainer::step(const Exec& exec, bool warmup) {
  if (m_dump.wanted(m_step)) m_dump.keep_memories(exec, *m_schedule);
  exec.fence("gradcomp::train::step");
  m_job.control.barrier();
  Stopwatch watch(exec);  // no barrier at its end: the slowest rank's time is found in finish()
  watch.start();
  if (!warmup) m_timeline.begin_step();
  const StepReport report = train(exec, warmup ? nullptr : &m_timeline);
  if (!warmup) m_timeline.end_step();
  const double seconds = watch.stop();
  if (!warmup) m_local_ms.push_back(1e3 * seconds);
  m_time_s += seconds;
  m_payload_bytes += static_cast<double>(report.payload_bytes);
  m_header_bytes += static_cast<double>(report.header_bytes);
  m_wire_bytes += static_cast<double>(report.wire_bytes);
  m_result.skipped_steps += report.skipped ? 1 : 0;
  m_result.density_ratio.insert(m_result.density_ratio.end(), report.density_ratio.begin(), report.density_ratio.end());
  m_loss += m_job.model.loss(exec);
  if (m_dump.wanted(m_step)) m_dump.write(exec, m_gradient, m_step);
  ++m_step;
}

void Trainer::evaluate(const Exec& exec) {
  Kokkos::deep_copy(exec, m_test_state, m_state);
  const nn::Loss test = evaluate_test_set(exec, m_job, m_batch, m_parameters, m_test_state);
  m_result.test_quality = m_result.metric.of(test);
  m_result.test_accuracy = test.accuracy();
  m_result.test_loss = test.mean();
  if (m_result.spec.common.text("reducer") != "local") {
    m_result.replicas_equal = equal_over_ranks(m_job.control, content_hash(m_parameters)) && m_result.replicas_equal;
  }
  auto& curve = m_result.curve;
  curve.step.push_back(m_step);
  curve.time_s.push_back(m_time_s);
  curve.wire_bytes.push_back(m_wire_bytes);
  curve.loss.push_back(sum_over_ranks(m_job.control, m_loss).mean());
  curve.accuracy.push_back(test.accuracy());
  curve.quality.push_back(m_result.test_quality);
  m_loss = {};
}

MethodResult Trainer::finish() {
  Communicator& control = m_job.control;
  m_result.step_ms = max_over_ranks(control, m_local_ms);
  std::vector<std::string> names;
  std::vector<double> medians;
  for (const auto& [name, milliseconds] : m_timeline.medians_ms()) {
    names.push_back(name);
    medians.push_back(milliseconds);
  }
  medians = max_over_ranks(control, medians);
  for (std::size_t i = 0; i < names.size(); ++i) m_result.stage_ms[names[i]] = medians[i];
  const double steps = static_cast<double>(std::max<index_t>(m_step, 1));
  const auto bytes = max_over_ranks(control, {m_payload_bytes / steps, m_header_bytes / steps, m_wire_bytes / steps});
  m_result.payload_bytes = bytes[0];
  m_result.header_bytes = bytes[1];
  m_result.wire_bytes = bytes[2];
  for (const StateView& view : m_schedule->persistent()) m_result.state_bytes += view.bytes;
  return m_result;
}

}  // namespace gradcomp::train
