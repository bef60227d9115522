#pragma once
// The clock for whole steps and micro-benchmarks: fence, barrier, clock, work, fence, barrier, clock. With the
// barriers, the time of every rank is that of the slowest. Without a communicator, there are no barriers.
#include <chrono>

#include "gradcomp/comm/transport.hpp"
#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// Seconds of a monotonic clock with an arbitrary origin; timeline.hpp uses it for time stamps.
inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Stopwatch {
 public:
  /// Times the work of `exec`; with `comm`, that of all its ranks (start() and stop() are then collective).
  explicit Stopwatch(const Exec& exec, Transport* comm = nullptr) : m_exec(exec), m_comm(comm) {}

  void start() {
    settle("gradcomp::measure::Stopwatch::start");
    m_start = Clock::now();
  }

  /// Seconds since start().
  double stop() {
    settle("gradcomp::measure::Stopwatch::stop");
    return std::chrono::duration<double>(Clock::now() - m_start).count();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void settle(const char* label) {
    m_exec.fence(label);
    if (m_comm != nullptr) barrier(*m_comm);
  }

  Exec m_exec;
  Transport* m_comm;
  Clock::time_point m_start{};
};

}  // namespace gradcomp
