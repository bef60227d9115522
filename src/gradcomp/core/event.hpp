#pragma once
// A point in the work of an execution space instance. A thread can wait for this point without waiting for later work,
// and two events measure a time on a device. On hosts, where launches end before they return, it is a time stamp.
#include "gradcomp/core/types.hpp"

namespace gradcomp {

class Event {
 public:
  Event();
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

  /// Marks the end of what `exec` was given so far.
  void record(const Exec& exec);
  /// Blocks this thread until the work before the event has ended. Does nothing if record() was never called.
  void wait() const;
  /// Whether the work before the event has ended. Never blocks.
  bool test() const;
  /// Lets later work of `exec` start after the work before the event. The host does not wait. Does nothing if record()
  /// was never called.
  void order(const Exec& exec) const;
  /// Seconds from `earlier` to this event; the work before both must have ended.
  double seconds_since(const Event& earlier) const;

 private:
  void* m_device = nullptr;  ///< cudaEvent_t or hipEvent_t, made by the first record()
  double m_seconds = 0;      ///< on hosts: the time of a monotonic clock
};

}  // namespace gradcomp
