#pragma once
// How a strategy waits if it makes progress by itself: it polls, after a while with pauses.
#include <chrono>
#include <optional>
#include <thread>

#include "gradcomp/core/waiting_clock.hpp"
#include "gradcomp/measure/stopwatch.hpp"
#include "gradcomp/measure/timeline.hpp"

namespace gradcomp {

/// Calls progress(), which returns whether anything moved, until done() returns true. `timeline`, which may be null,
/// records the time in which nothing moved as waiting. Returns false if this takes longer than `limit_seconds`; 0: no
/// limit.
template <class Done, class Progress>
[[nodiscard]] bool progress_until(Timeline* timeline, double limit_seconds, const Done& done,
                                  const Progress& progress) {
  constexpr int looks_before_sleep = 200;
  constexpr std::chrono::microseconds pause(20);
  const double begin = waiting_seconds();
  std::optional<double> waits_since;
  const auto stop_waiting = [&](double now) {
    if (waits_since && timeline != nullptr) timeline->add_wait(*waits_since, now);
    waits_since.reset();
  };
  for (int looks = 0; !done();) {
    const double now = now_seconds();
    if (progress()) {
      stop_waiting(now);
      looks = 0;
      continue;
    }
    if (!waits_since) waits_since = now;
    if (limit_seconds > 0 && waiting_seconds() - begin > limit_seconds) return false;
    if (++looks < looks_before_sleep) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(pause);
    }
  }
  stop_waiting(now_seconds());
  return true;
}

}  // namespace gradcomp
