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

void Trainer::restore(const Exec& exec, const Snapshot& snapshot, const std::string& prefix) {
  for (const MemoryView& view : memory()) snapshot.get(exec, prefix + view.path(), view);
  each_history([&](const char* name, auto& values) { snapshot.get(prefix + name, values); });

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
  m_batches.restart(m_now.step);
}

}  // namespace gradcomp::train
