#include "gradcomp/exchange/reduction.hpp"

#include "gradcomp/exchange/registry.hpp"

namespace gradcomp {
namespace {

/// Converts a time to the clock of now_seconds().
double seconds_of(Clock::time_point time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }

Sender make_sender(const MethodSpec& method, const Layout& bucket, int ranks, const FaultCounts& faults) {
  const Info& info = method.compressor->info();
  const Layout layout = seen_by(method, bucket);
  const ReducerEntry& reducer = reducer_for(method.common.text("reducer"), info);
  if (reducer.name == "local") return Sender(method, layout, {});  // a rank must not end its run without the others
  if (!reducer.striped) return Sender(method, layout, faults);
  return Sender(method, cut_stripes(layout, info.granule, ranks), faults);
}

}  // namespace

Layout seen_by(const MethodSpec& method, const Layout& bucket) {
  return method.common.text("granularity") == "bucket" ? bucket.fused() : bucket;
}

Reduction::Reduction(const MethodSpec& method, const Layout& bucket, Transport& transport, const Faults& faults,
                     int number)
    : m_transport(transport), m_sender(make_sender(method, bucket, transport.size(), faults.counts())) {
  require(number <= max_tag / tags_per_reducer, "bucket {}: at most {} buckets can travel over one transport", number,
          max_tag / tags_per_reducer + 1);
  const ReducerEntry& entry = reducer_for(method.common.text("reducer"), method.compressor->info());
  m_reducer = entry.make({method.common, m_sender, transport.rank(), transport.size(), number * tags_per_reducer,
                          transport.ranks_per_node()});
  m_in_any_order = entry.in_any_order;
}

void Reduction::begin(const Exec& exec, const Span<const float>& gradient, const Span<float>& mean,
                      const Context& context, Timeline* timeline) {
  m_round = 0;
  m_timeline = timeline;
  m_sender.begin(exec, gradient, mean, m_reducer->adapted(context));
}

void Reduction::launch(const Exec& exec) {
  m_calls.clear();
  {
    const StageScope stage(exec, m_timeline, Stage::compress);
    m_reducer->launch(exec, m_round, m_calls);
  }
  if (m_calls.empty()) return;
  const WaitScope exposed(m_timeline);
  m_under_way = m_transport.start(exec, m_calls);
}

/// Adds the times of the calls to the timeline.
void Reduction::note_exchange() {
  if constexpr (!device_is_host) {
    Event begin = m_timeline->spare_event(), end = m_timeline->spare_event();
    if (m_under_way.take_events(begin, end)) {
      m_timeline->add(Stage::exchange, std::move(begin), std::move(end));
      return;
    }
    m_timeline->return_event(std::move(begin));
    m_timeline->return_event(std::move(end));
  }
  const Times& times = m_under_way.times();
  m_timeline->add(Stage::exchange, seconds_of(times.started), seconds_of(times.finished));
}

void Reduction::complete(const Exec& exec) {
  std::span<const Found> found;
  if (!m_calls.empty()) {
    {
      const WaitScope exposed(m_timeline);
      m_under_way.order(exec);
    }
    found = m_under_way.all_found();
    if (m_timeline != nullptr) note_exchange();
  }
  const StageScope stage(exec, m_timeline, Stage::decompress);
  m_reducer->complete(exec, m_round++, found);
}

void Reduction::finish(const Exec& exec) {
  const StageScope stage(exec, m_timeline, Stage::decompress);
  m_reducer->finish(exec);
  m_sender.follow_mean(exec);
}

MessageBytes Reduction::bytes() const {
  MessageBytes sum = m_sender.bytes();
  return sum += m_reducer->more_bytes();
}

Memories Reduction::memories() {
  Memories all = m_sender.memories();
  for (MemoryView& memory : m_reducer->memories()) all.push_back(std::move(memory));
  return all;
}

void reduce(Reduction& reduction, const Exec& exec) {
  while (!reduction.done()) {
    reduction.launch(exec);
    reduction.complete(exec);
  }
  reduction.finish(exec);
}

}  // namespace gradcomp
