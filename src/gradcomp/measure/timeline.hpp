#pragma once
// Where the time of a step goes: intervals per stage, measured without barriers or extra fences, so that overlap is
// measured and not destroyed. On hosts, where kernels are synchronous, intervals are pairs of time stamps. On a device,
// they are events around launches, which become times when the step ends.
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <array>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "gradcomp/core/event.hpp"
#include "gradcomp/core/types.hpp"
#include "gradcomp/measure/samples.hpp"

namespace gradcomp {

/// The stages of a step. Code, profiling regions, results and plots use these names.
enum class Stage : std::uint8_t { data, forward, backward, compress, exchange, decompress, update, importance };

inline constexpr std::size_t stage_count = 8;
inline constexpr std::array<const char*, stage_count> stage_names = {
    "data", "forward", "backward", "compress", "exchange", "decompress", "update", "importance"};
constexpr const char* name_of(Stage stage) { return stage_names[static_cast<std::size_t>(stage)]; }

/// An interval between two times of now_seconds().
struct Interval {
  double start = 0, end = 0;
};

/// The time covered by at least one of `intervals`. Intervals with end <= start do not count.
double covered(std::vector<Interval> intervals);

class Timeline {
 public:
  /// Steps run on the main thread. add() and add_wait() may be called from any thread, but only before end_step().
  /// `exec`: the instance on which stages run.
  void begin_step(const Exec& exec = Exec());
  void begin_step(double time);

  /// `stage` ran from start to end. If intervals of a stage overlap, the common time counts once.
  void add(Stage stage, double start, double end);
  /// The same for the work of `exec` between two events, which spare_event() hands out again after the step.
  void add(Stage stage, Event start, Event end);
  /// An event of an earlier step, or a new one, and back if it was not needed: a step makes none.
  Event spare_event();
  void return_event(Event event);
  /// The main thread waited for communication from start to end: this is the exposed part, which overlap did not hide.
  /// A synchronous exchange on the main thread is both an exchange and a wait.
  void add_wait(double start, double end);

  /// Turns the intervals since the last step into one sample of each quantity below. Waits for the events of the step.
  void end_step();
  void end_step(double time);

  /// Discards all steps, such as untimed ones, and keeps the memory.
  void clear();

  const Samples& step_seconds() const { return m_step; }
  const Samples& stage_seconds(Stage stage) const { return m_stages[static_cast<std::size_t>(stage)]; }
  const Samples& communication_seconds() const { return stage_seconds(Stage::exchange); }
  const Samples& exposed_seconds() const { return m_exposed; }
  /// The communication of each step that other work hid: communication - exposed, or 0 if this is negative.
  Samples hidden_seconds() const;

  /// The median milliseconds of each stage, by name, and of "hidden" and "exposed": the column stages_ms of results.
  /// Empty without steps.
  std::map<std::string, double> medians_ms() const;

  /// The intervals of `stage` in the last step that ended, for plots. Times are relative to the begin of the step.
  const std::vector<Interval>& last(Stage stage) const { return m_last[static_cast<std::size_t>(stage)]; }

 private:
  std::mutex m_mutex;  ///< guards the open intervals; only the main thread uses all other members
  std::array<std::vector<Interval>, stage_count> m_open;
  std::vector<Interval> m_open_waits;

  struct Pending {
    Stage stage;
    Event start, end;
  };
  void spare_pending();  ///< with m_mutex
  std::vector<Pending> m_pending;
  std::vector<Event> m_spare;
  Event m_begin_event;

  double m_begin = 0;
  std::array<std::vector<Interval>, stage_count> m_last;
  Samples m_step, m_exposed;
  std::array<Samples, stage_count> m_stages;
};

/// Times a scope of the main thread, with what it launches on `exec`, as `stage`, inside a Kokkos profiling region of
/// the same name. A communication thread calls add() instead, because profiling tools have one stack of regions. If the
/// timeline is null, there is only the region.
class StageScope {
 public:
  StageScope(const Exec& exec, Timeline* timeline, Stage stage);
  ~StageScope();
  StageScope(const StageScope&) = delete;
  StageScope& operator=(const StageScope&) = delete;

 private:
  Kokkos::Profiling::ScopedRegion m_region;
  Exec m_exec;
  Timeline* m_timeline;
  Stage m_stage;
  double m_start = 0;
  Event m_event;  ///< the start, on a device
};

/// Times a scope in which the main thread waits for communication. Does nothing if the timeline is null.
class WaitScope {
 public:
  explicit WaitScope(Timeline* timeline);
  ~WaitScope();
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

 private:
  Timeline* m_timeline;
  double m_start;
};

}  // namespace gradcomp
