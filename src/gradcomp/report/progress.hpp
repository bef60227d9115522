#pragma once
// A progress bar. It is drawn only on a terminal, so that logs and pipes stay clean.
#include <chrono>
#include <cstdio>
#include <string>

#include "gradcomp/core/types.hpp"

namespace gradcomp::report {

class ProgressBar {
 public:
  /// Draws only if `enabled` (pass rank == 0) and if `stream` is a terminal. mpirun puts a pipe between the program and
  /// the terminal; a launcher that knows that there is one sets GRADCOMP_PROGRESS=always (or =never).
  explicit ProgressBar(bool enabled, std::FILE* stream = stderr);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Starts a phase of `total` units. Its remaining time is estimated from now on.
  void phase(const std::string& name, index_t total);

  /// `done` units are finished. Cheap: redraws at most ten times a second, and at the end of a phase.
  void update(index_t done);
  void advance(index_t units = 1) { update(m_done + units); }

  /// Wipes the bar: call before printing to the terminal; the next update() draws it again.
  void clear();

  bool active() const { return m_active; }

  /// The line drawn for these values, at most `columns` wide.
  static std::string line(const std::string& phase, index_t done, index_t total, double elapsed_s, int columns);

 private:
  using Clock = std::chrono::steady_clock;
  void draw();

  std::FILE* m_stream;
  bool m_active;
  bool m_drawn = false;
  std::string m_phase;
  index_t m_total = 0, m_done = 0;
  Clock::time_point m_start, m_last_draw;
};

}  // namespace gradcomp::report
