#pragma once
// The emulated link of one rank, which its calls and messages share, and how threads wait for its times.
#include <chrono>
#include <memory>
#include <thread>

#include "gradcomp/comm/throttled.hpp"

namespace gradcomp::comm {

struct EmulatedLink {
  std::shared_ptr<const Link> given;
  Clock::time_point out, in;      ///< when the two directions are free again
  Clock::time_point collectives;  ///< when the last collective call ends

  double seconds(index_t bytes, int steps) const { return given->seconds(bytes, steps); }
};

inline Clock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// Yields the core to other threads but does not sleep, like an MPI library that waits: a core that has slept is slow
/// at first and has cold caches, which made the next forward pass of ResNet-20 a third longer.
inline void wait_until(Clock::time_point time) {
  while (Clock::now() < time) std::this_thread::yield();
}

}  // namespace gradcomp::comm
