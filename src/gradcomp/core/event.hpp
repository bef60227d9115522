#pragma once
// A point in the work of an execution space instance. One can wait for it without waiting for later work, and measure
// times on a device. On hosts, where launches end before they return, it is a time stamp.
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
  /// Blocks this thread until that work has ended. Does nothing if never recorded.
  void wait() const;
  /// True when it has ended. Never blocks.
  bool test() const;
  /// Later work of `exec` starts after that work; the host does not wait. Does nothing if never recorded.
  void order(const Exec& exec) const;
  /// Seconds from `earlier` to this one; both must have ended.
  double seconds_since(const Event& earlier) const;

 private:
  void* m_device = nullptr;  ///< cudaEvent_t or hipEvent_t, made by the first record()
  double m_seconds = 0;      ///< on hosts, of a monotonic clock
};

}  // namespace gradcomp
