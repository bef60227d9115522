#include "gradcomp/measure/timeline.hpp"

#include <algorithm>
#include <utility>

#include "gradcomp/measure/stopwatch.hpp"

namespace gradcomp {

double covered(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) { return a.start < b.start; });
  double total = 0, reached = -1e300;
  for (const auto& i : intervals) {
    const double from = std::max(i.start, reached);
    if (i.end > from) {
      total += i.end - from;
      reached = i.end;
    }
  }
  return total;
}

void Timeline::begin_step(const Exec& exec) {
  if (!device_is_host) m_begin_event.record(exec);
  begin_step(now_seconds());
}
void Timeline::begin_step(double time) { m_begin = time; }

void Timeline::add(Stage stage, double start, double end) {
  const std::lock_guard lock(m_mutex);
  m_open[static_cast<std::size_t>(stage)].push_back({start, end});
}

void Timeline::add(Stage stage, Event start, Event end) {
  const std::lock_guard lock(m_mutex);
  m_pending.push_back({stage, std::move(start), std::move(end)});
}

Event Timeline::spare_event() {
  const std::lock_guard lock(m_mutex);
  if (m_spare.empty()) return {};
  Event event = std::move(m_spare.back());
  m_spare.pop_back();
  return event;
}

void Timeline::return_event(Event event) {
  const std::lock_guard lock(m_mutex);
  m_spare.push_back(std::move(event));
}

void Timeline::spare_pending() {
  for (Pending& p : m_pending) {
    m_spare.push_back(std::move(p.start));
    m_spare.push_back(std::move(p.end));
  }
  m_pending.clear();
}

void Timeline::add_wait(double start, double end) {
  const std::lock_guard lock(m_mutex);
  m_open_waits.push_back({start, end});
}

void Timeline::end_step() { end_step(now_seconds()); }

void Timeline::end_step(double time) {
  const std::lock_guard lock(m_mutex);
  for (const Pending& p : m_pending) {
    p.end.wait();
    m_open[static_cast<std::size_t>(p.stage)].push_back(
        {m_begin + p.start.seconds_since(m_begin_event), m_begin + p.end.seconds_since(m_begin_event)});
  }
  spare_pending();
  m_step.add(time - m_begin);
  for (std::size_t s = 0; s < stage_count; ++s) {
    m_stages[s].add(covered(m_open[s]));
    std::swap(m_last[s], m_open[s]);  // both keep their capacity, so that later steps allocate nothing
    m_open[s].clear();
    for (auto& i : m_last[s]) i = {i.start - m_begin, i.end - m_begin};
  }
  m_exposed.add(covered(m_open_waits));
  m_open_waits.clear();
}

void Timeline::clear() {
  const std::lock_guard lock(m_mutex);
  m_step.clear();
  m_exposed.clear();
  m_open_waits.clear();
  spare_pending();
  for (std::size_t s = 0; s < stage_count; ++s) {
    m_stages[s].clear();
    m_open[s].clear();
    m_last[s].clear();
  }
}

Samples Timeline::hidden_seconds() const {
  Samples hidden;
  const auto& all = communication_seconds().values();
  for (std::size_t i = 0; i < all.size(); ++i) hidden.add(std::max(0.0, all[i] - m_exposed.values()[i]));
  return hidden;
}

std::map<std::string, double> Timeline::medians_ms() const {
  std::map<std::string, double> medians;
  if (m_step.count() == 0) return medians;
  for (std::size_t s = 0; s < stage_count; ++s) medians[stage_names[s]] = 1e3 * m_stages[s].median();
  medians["exposed"] = 1e3 * m_exposed.median();
  medians["hidden"] = 1e3 * hidden_seconds().median();
  return medians;
}

StageScope::StageScope(const Exec& exec, Timeline* timeline, Stage stage)
    : m_region(name_of(stage)), m_exec(exec), m_timeline(timeline), m_stage(stage) {
  if (device_is_host) {
    m_start = now_seconds();
  } else if (timeline != nullptr) {
    m_event = timeline->spare_event();
    m_event.record(exec);
  }
}

StageScope::~StageScope() {
  if (m_timeline == nullptr) return;
  if (device_is_host) {
    m_timeline->add(m_stage, m_start, now_seconds());
    return;
  }
  Event end = m_timeline->spare_event();
  end.record(m_exec);
  m_timeline->add(m_stage, std::move(m_event), std::move(end));
}

WaitScope::WaitScope(Timeline* timeline) : m_timeline(timeline), m_start(now_seconds()) {}

WaitScope::~WaitScope() {
  if (m_timeline != nullptr) m_timeline->add_wait(m_start, now_seconds());
}

}  // namespace gradcomp
