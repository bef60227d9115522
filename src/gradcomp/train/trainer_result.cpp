// What a trainer measures: quality, replicas, and its part of the result.
#include <algorithm>
#include <cmath>
#include <limits>

#include "gradcomp/comm/over_ranks.hpp"
#include "gradcomp/measure/interface_bytes.hpp"
#include "gradcomp/train/exposed.hpp"
#include "gradcomp/train/trainer.hpp"

namespace gradcomp::train {

void Trainer::check_replicas(const Exec& exec) {
  if (m_result.contender.is_bound()) return;
  drain(exec);
  if (ended()) return;
  const std::uint64_t hash = content_hash(m_strategy->agreed(m_parameters));
  m_now.replicas_equal = equal_over_ranks(m_job.control, hash) && m_now.replicas_equal;
}

nn::Loss Trainer::evaluate_on(const Exec& exec, data::Split split) {
  Kokkos::deep_copy(exec, m_test_buffers, m_buffers);
  return evaluate_held_out(exec, m_job, split, m_held_out, m_strategy->agreed(m_parameters), m_test_buffers);
}

void Trainer::evaluate(const Exec& exec) {
  drain(exec);
  if (ended()) return;
  const nn::Loss loss = evaluate_on(exec, data::Split::validation);
  if (!std::isfinite(loss.mean()) && !m_result.contender.is_bound()) {
    m_now.diverged_at = m_now.step;
    return;
  }
  m_now.validation_quality = m_result.metric.of(loss);
  m_now.validation_loss = loss.mean();
  if (m_result.target && !m_now.target_reached && m_result.metric.reaches(m_now.validation_quality, *m_result.target)) {
    m_now.target_reached = true;
    m_now.reached = {m_now.step, m_now.time_s, m_now.wire_bytes};
  }
  check_replicas(exec);
  auto& curve = m_result.curve;
  curve.step.push_back(m_now.step);
  curve.time_s.push_back(m_now.time_s);
  curve.wire_bytes.push_back(m_now.wire_bytes);
  curve.loss.push_back(sum_over_ranks(m_job.control, m_now.loss).mean());
  curve.accuracy.push_back(loss.accuracy());
  curve.quality.push_back(m_now.validation_quality);
  m_now.loss = {};
}

void Trainer::begin_counting() {
  m_count_begin = m_now.step;
  if (m_job.energy != nullptr) m_joules_begin = m_job.energy->joules();
  if (!m_job.interface.empty()) m_bytes_begin = bytes_sent_over(m_job.interface);
}

void Trainer::end_counting() {
  const index_t steps = m_now.step - m_count_begin;
  if (steps == 0) return;
  const auto joules = m_job.energy == nullptr || !m_joules_begin ? std::nullopt : m_job.energy->joules();
  if (joules) {
    m_now.joules += *joules - *m_joules_begin;
    m_now.energy_steps += steps;
  }
  if (!m_job.interface.empty()) {
    m_now.counted_bytes += bytes_sent_over(m_job.interface) - m_bytes_begin;
    m_now.counted_steps += steps;
  }
}

/// The sum over all devices; nothing unless every rank knows the energy of all its steps.
std::optional<double> Trainer::joules_per_step() {
  const double known = min_over_ranks(m_job.control, {static_cast<double>(m_now.energy_steps)})[0];
  const auto microjoules = sum_over_ranks(m_job.control, std::vector{index_t{std::llround(1e6 * m_now.joules)}})[0];
  if (m_now.step == 0 || known != static_cast<double>(m_now.step)) return std::nullopt;
  return 1e-6 * static_cast<double>(microjoules) / known;
}

/// Of the rank that sent most; nothing unless every rank counted in all its steps.
std::optional<double> Trainer::counted_bytes_per_step() {
  const auto steps = static_cast<double>(m_now.step);
  const double known = min_over_ranks(m_job.control, {static_cast<double>(m_now.counted_steps)})[0];
  const double most = max_over_ranks(m_job.control, {static_cast<double>(m_now.counted_bytes)})[0];
  if (m_now.step == 0 || known != steps) return std::nullopt;
  return most / steps;
}

void Trainer::add_waiting() {
  if (!m_strategy->in_step()) return;
  std::vector<double> exposed = m_timeline.exposed_seconds().values();
  for (double& x : exposed) x *= 1e3 / static_cast<double>(period());
  const Exposed split = split_exposed(m_job.control, exposed, m_job.workers());
  m_result.stage_ms["transfer"] = report::quantile(split.transfer, 0.5);
  m_result.stage_ms["waiting"] = report::quantile(split.waiting, 0.5);
}

void Trainer::add_sampling() {
  const BatchSampler* const sampler = m_batches.sampler();
  if (sampler == nullptr) {
    m_result.stage_ms.erase(name_of(Stage::importance));
    return;
  }
  Transport& control = m_job.control;
  const auto ranks = static_cast<std::size_t>(control.size()), rank = static_cast<std::size_t>(control.rank());
  const std::vector<index_t>& own = m_batches.slices();
  std::vector<index_t> all(ranks * own.size() + 1);
  std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(rank * own.size()));
  all.back() = m_batches.moved();
  all = sum_over_ranks(control, all);
  Sampling sampling{choose_sampler(m_result.contender.spec, m_job.options.sampler).text(),
                    {},
                    all.back(),
                    static_cast<double>(all.back() * m_job.task.sample_bytes())};
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(r * own.size());
    sampling.slices.emplace_back(begin, begin + std::ssize(own));
  }
  m_result.sampling = std::move(sampling);
}

MethodResult Trainer::finish(const Exec& exec) {
  Transport& control = m_job.control;
  drain(exec);
  m_result.validation_quality = m_now.validation_quality;
  m_result.validation_loss = m_now.validation_loss;
  if (ended()) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    m_result.diverged_at = m_now.diverged_at;
    m_result.validation_quality = m_result.validation_loss = none;
    m_result.test_quality = m_result.test_accuracy = m_result.test_loss = none;
  } else if (!m_job.options.is_trial) {
    const nn::Loss test = evaluate_on(exec, data::Split::test);
    m_result.test_quality = m_result.metric.of(test);
    m_result.test_accuracy = test.accuracy();
    m_result.test_loss = test.mean();
  }
  if (m_batch_dump) {
    std::vector<double> rates;
    for (index_t step = 0; step < m_now.step; ++step) rates.push_back(m_rate.at(step));
    run_collectively(control, [&] { m_batch_dump->write(m_result.contender.spec.label, rates); });
  }
  m_result.replicas_equal = m_now.replicas_equal;
  m_result.parameters_hash = content_hash(m_strategy->agreed(m_parameters));
  // Ranks that are not in step take different times for one step, but the same time between two meetings.
  m_result.step_ms = m_strategy->in_step() ? max_over_ranks(control, m_local_ms) : mean_over_ranks(control, m_local_ms);
  std::vector<std::string> names;
  std::vector<double> medians;
  for (const auto& [name, milliseconds] : m_timeline.medians_ms()) {
    names.push_back(name);
    medians.push_back(milliseconds / static_cast<double>(period()));
  }
  medians = max_over_ranks(control, medians);
  for (std::size_t i = 0; i < names.size(); ++i) m_result.stage_ms[names[i]] = medians[i];
  add_waiting();
  add_sampling();
  const auto stale = sum_over_ranks(control, std::vector{m_now.stale_pushes, m_now.staleness});
  if (stale[0] > 0) {
    m_result.staleness = Staleness{static_cast<double>(stale[1]) / static_cast<double>(stale[0]),
                                   max_over_ranks(control, {static_cast<double>(m_now.max_stale)})[0]};
  }
  const double steps = static_cast<double>(std::max<index_t>(m_now.step, 1));
  const auto most = max_over_ranks(control, {m_now.payload_bytes / steps, m_now.header_bytes / steps,
                                             m_now.wire_bytes / steps, m_now.reached.time_s, m_now.reached.wire_bytes});
  m_result.payload_bytes = most[0];
  m_result.header_bytes = most[1];
  m_result.wire_bytes = most[2];
  if (m_now.target_reached && !ended()) m_result.reached = Reached{m_now.reached.steps, most[3], most[4]};
  m_result.joules_per_step = joules_per_step();
  m_result.counted_bytes = counted_bytes_per_step();
  m_result.state_bytes = 0;
  for (const MemoryView& memory : m_strategy->memories()) {
    if (memory.bucket >= 0) m_result.state_bytes += memory.bytes;  // of compressors, feedback and reducers
  }
  return m_result;
}

}  // namespace gradcomp::train
