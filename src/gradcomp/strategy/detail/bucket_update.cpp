#include "gradcomp/strategy/detail/bucket_update.hpp"

namespace gradcomp {

BucketUpdate::BucketUpdate(const MethodSpec& method, const Layout& model, const BucketRange& range,
                           Transport& transport, const Faults& faults, int number, const UpdateOptions& options)
    : m_range(range),
      m_number(number),
      m_reduction(method, model.slice(range.first, range.last), transport, faults, number),
      m_updater(model.slice(range.first, range.last), {range.count}, options) {}

void BucketUpdate::begin(const Exec& exec, const Span<const float>& gradient, const Span<float>& mean,
                         const Context& context, Timeline* timeline) {
  m_mean = subspan(mean, m_range.offset, m_range.count);
  m_rate = context.rate;
  m_timeline = timeline;
  m_reduction.begin(exec, subspan(gradient, m_range.offset, m_range.count), m_mean, context, timeline);
  m_reduction.launch(exec);
  m_phase = Phase::under_way;
}

bool BucketUpdate::advance(const Exec& exec) {
  if (m_phase != Phase::under_way || !m_reduction.arrived()) return false;
  m_reduction.complete(exec);
  m_phase = m_reduction.done() ? Phase::arrived : Phase::between;
  return true;
}

void BucketUpdate::launch_next(const Exec& exec) {
  m_reduction.launch(exec);
  m_phase = Phase::under_way;
}

void BucketUpdate::apply(const Exec& exec, const Span<float>& parameters) {
  m_reduction.finish(exec);
  m_phase = Phase::up_to_date;
  const StageScope stage(exec, m_timeline, Stage::update);
  m_updater.apply(exec, m_rate, subspan(parameters, m_range.offset, m_range.count), m_mean);
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
