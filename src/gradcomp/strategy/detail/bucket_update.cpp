#include "gradcomp/strategy/detail/bucket_update.hpp"

namespace gradcomp {

BucketUpdate::BucketUpdate(const MethodSpec& method, const Layout& model, const BucketRange& range,
                           Transport& transport, int number, const UpdateOptions& options)
    : m_range(range),
      m_number(number),
      m_reduction(method, model.slice(range.first, range.last), transport, number),
      m_updater(model.slice(range.first, range.last), {range.count}, options) {}

void BucketUpdate::begin(const Exec& exec, const Span<const float>& gradient, const Span<float>& mean,
                         const Context& context, Timeline* timeline) {
  resolve(exec);  // before the verdict's flags are cleared
  m_verdict.clear(exec);
  m_mean = subspan(mean, m_range.offset, m_range.count);
  m_rate = context.rate;
  m_step = context.step;
  m_timeline = timeline;
  m_round = 0;
  m_reduction.begin(exec, subspan(gradient, m_range.offset, m_range.count), m_mean, context, timeline);
  m_reduction.launch(exec, m_round);
  m_phase = Phase::under_way;
}

bool BucketUpdate::advance(const Exec& exec) {
  if (m_phase != Phase::under_way || !m_reduction.ready()) return false;
  m_reduction.complete(exec, m_round);
  m_phase = ++m_round < m_reduction.rounds() ? Phase::between : Phase::arrived;
  return true;
}

void BucketUpdate::launch_next(const Exec& exec) {
  m_reduction.launch(exec, m_round);
  m_phase = Phase::under_way;
}

void BucketUpdate::apply(const Exec& exec, const Span<float>& parameters) {
  m_reduction.finish(exec, m_verdict);
  m_verdict.fetch(exec);
  m_reduction.settle(exec, m_verdict);
  m_open = true;
  if (device_is_host) resolve(exec);
  m_phase = Phase::up_to_date;
  const StageScope stage(exec, m_timeline, Stage::update);
  m_updater.apply(exec, m_rate, subspan(parameters, m_range.offset, m_range.count), m_mean, m_verdict);
}

void BucketUpdate::resolve(const Exec& exec) {
  if (!std::exchange(m_open, false)) return;
  if (!m_verdict.skipped()) return;
  m_skipped = m_step;
  m_reduction.take_back(exec);
}

void BucketUpdate::note_in(Timeline* timeline) {
  m_timeline = timeline;
  m_reduction.note_in(timeline);
}

Memories BucketUpdate::memories() {
  Memories all = m_reduction.memories();
  for (MemoryView& memory : m_updater.memories()) {
    memory.name = "update/" + memory.name;  // a method may have a memory of this name
    all.push_back(std::move(memory));
  }
  for (MemoryView& memory : all) memory.bucket = m_number;
  return all;
}

}  // namespace gradcomp
