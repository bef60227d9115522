// What a checkpoint holds of one trainer.
#include "gradcomp/train/trainer.hpp"

namespace gradcomp::train {
Memories Trainer::memory() {
  Memories all{memory_of(Role::parameters, m_parameters),
               memory_of(Role::buffers, m_buffers),
               {"", &m_now, sizeof m_now, true, Role::counters, -1}};
  for (MemoryView& memory : m_strategy->memories()) all.push_back(std::move(memory));
  for (MemoryView& memory : m_batches.memories()) all.push_back(std::move(memory));
  return all;
}

template <class F>
void Trainer::each_history(const F& f) {
  f("step_ms", m_local_ms);
  f("step_link", m_result.step_link);
  f("density_ratio", m_result.density_ratio);
  f("slices", m_batches.slices());
  f("curve/step", m_result.curve.step);
  f("curve/time_s", m_result.curve.time_s);
  f("curve/wire_bytes", m_result.curve.wire_bytes);
  f("curve/loss", m_result.curve.loss);
  f("curve/accuracy", m_result.curve.accuracy);
  f("curve/quality", m_result.curve.quality);
}

void Trainer::save(const Exec& exec, Snapshot& snapshot, const std::string& prefix) {
  for (const MemoryView& view : memory()) snapshot.put(exec, prefix + view.path(), view);
  each_history([&](const char* name, const auto& values) { snapshot.put(prefix + name, values); });
  for (std::size_t s = 0; s < stage_count; ++s) {
    snapshot.put(prefix + "stage/" + stage_names[s], m_timeline.stage_seconds(static_cast<Stage>(s)).values());
  }
  snapshot.put(prefix + "stage/exposed", m_timeline.exposed_seconds().values());
  snapshot.put(prefix + "stage/step", m_timeline.step_seconds().values());
}

/// A run that has ended trains no more, but others of the job go on.
bool Trainer::counters_fit(index_t step) const {
  const auto up_to_step = [&](index_t count) { return count >= 0 && count <= step; };
  return (ended() ? up_to_step(m_now.step) : m_now.step == step) && m_now.diverged_at >= -1 &&
         m_now.diverged_at <= step && up_to_step(m_now.energy_steps) && up_to_step(m_now.counted_steps) &&
         is_count(m_now.counted_bytes) && up_to_step(m_now.reached.steps) && is_count(m_now.stale_pushes) &&
         is_count(m_now.staleness) && is_count(m_now.max_stale);
}

void Trainer::restore(const Exec& exec, const Snapshot& snapshot, const std::string& prefix, index_t step) {
  const Memories all = memory();
  for (const MemoryView& view : all) snapshot.get(exec, prefix + view.path(), view);
  each_history([&](const char* name, auto& values) { snapshot.get(prefix + name, values); });
  for (const MemoryView& view : all) {
    require(!view.valid || view.valid(), "the checkpoint's array '{}' holds numbers that no run has",
            prefix + view.path());
  }
  require(counters_fit(step), "the checkpoint's array '{}' holds numbers that no run has after {} steps",
          prefix + to_string(Role::counters), step);
  const auto& curve = m_result.curve;
  const std::size_t points = curve.step.size();
  require(m_result.step_link.size() == m_local_ms.size() && curve.time_s.size() == points &&
              curve.wire_bytes.size() == points && curve.loss.size() == points && curve.accuracy.size() == points &&
              curve.quality.size() == points,
          "the checkpoint's columns of steps, or of points of the curve, have different lengths");

  std::vector<double> steps, exposed;
  std::array<std::vector<double>, stage_count> stages;
  snapshot.get(prefix + "stage/step", steps);
  snapshot.get(prefix + "stage/exposed", exposed);
  bool complete = exposed.size() == steps.size();
  for (std::size_t s = 0; s < stage_count; ++s) {
    snapshot.get(prefix + "stage/" + stage_names[s], stages[s]);
    complete = complete && stages[s].size() == steps.size();
  }
  require(complete, "the checkpoint has not as many times for each stage as it has timed steps ({})", steps.size());
  m_timeline.clear();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    m_timeline.begin_step(0);
    for (std::size_t s = 0; s < stage_count; ++s) m_timeline.add(static_cast<Stage>(s), 0, stages[s][i]);
    m_timeline.add_wait(0, exposed[i]);
    m_timeline.end_step(steps[i]);
  }
  m_batches.restart(m_now.step);  // throws, too, if the sampler's samples are not those of the data set
}

}  // namespace gradcomp::train
