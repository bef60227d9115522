#pragma once
// Work that fills the wait for an exchange, in portions, without delaying the exchange.
#include <algorithm>
#include <chrono>
#include <thread>

#include "gradcomp/measure/stopwatch.hpp"
#include "gradcomp/measure/timeline.hpp"

namespace gradcomp {

/// Calls idle(), which returns whether there was work, until ended() returns true or there is no work.
///
/// The communication thread may share this core. While a portion of work runs, that thread gets too little of the core
/// to move many messages, so that a wait that would have been short would last as long as there is work to fill it.
/// Therefore the communication thread has the core for itself before each portion, for an eighth of the time that the
/// portion before took. A short exchange ends within this pause, and a long one leaves at least eight ninths of its
/// time to the work.
///
/// `portion`: seconds of the last portion; the caller keeps it. `timeline` records the pauses as waiting; it may be
/// null.
template <class Idle, class Ended>
void fill_wait(double& portion, Timeline* timeline, const Idle& idle, const Ended& ended) {
  constexpr double shortest = 20e-6;  // seconds; a yield would be too short
  const auto ends_soon = [&] {
    if (ended()) return true;
    const WaitScope waiting(timeline);
    const double until = now_seconds() + std::max(shortest, portion / 8);
    do {
      std::this_thread::sleep_for(std::chrono::duration<double>(shortest));
      if (ended()) return true;
    } while (now_seconds() < until);
    return false;
  };
  while (!ends_soon()) {
    const double begin = now_seconds();
    if (!idle()) return;
    portion = now_seconds() - begin;
  }
}

}  // namespace gradcomp
