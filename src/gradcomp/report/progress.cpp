#include "gradcomp/report/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "gradcomp/core/number.hpp"

namespace gradcomp::report {
namespace {

bool wanted(std::FILE* stream) {
  const char* choice = std::getenv("GRADCOMP_PROGRESS");
  if (choice != nullptr && std::string_view(choice) == "always") return true;
  if (choice != nullptr && std::string_view(choice) == "never") return false;
  return ::isatty(::fileno(stream)) == 1;
}

int terminal_columns(std::FILE* stream) {
  winsize size{};
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const int value = to_number<int>(columns != nullptr ? columns : "").value_or(0);
  return value > 0 ? value : 80;
}

std::string duration(double seconds) {
  const auto total = static_cast<long>(seconds + 0.5);
  if (total < 3600) return fmt::format("{}:{:02}", total / 60, total % 60);
  return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
}

}  // namespace

ProgressBar::ProgressBar(bool enabled, std::FILE* stream) : m_stream(stream), m_active(enabled && wanted(stream)) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::phase(const std::string& name, index_t total) {
  m_phase = name;
  m_total = total;
  m_done = 0;
  m_start = Clock::now();
  m_last_draw = {};
  if (m_active) draw();
}

void ProgressBar::update(index_t done) {
  m_done = done;
  if (!m_active) return;
  if (m_done < m_total && Clock::now() - m_last_draw < std::chrono::milliseconds(100)) return;
  draw();
}

void ProgressBar::clear() {
  if (!m_drawn) return;
  std::fputs("\r\033[K", m_stream);
  std::fflush(m_stream);
  m_drawn = false;
}

void ProgressBar::draw() {
  m_last_draw = Clock::now();
  const double elapsed = std::chrono::duration<double>(m_last_draw - m_start).count();
  // One write: mpirun forwards pieces, and half an escape sequence would be shown as letters.
  const auto text = "\r" + line(m_phase, m_done, m_total, elapsed, terminal_columns(m_stream) - 1) + "\033[K";
  std::fwrite(text.data(), 1, text.size(), m_stream);
  std::fflush(m_stream);
  m_drawn = true;
}

std::string ProgressBar::line(const std::string& phase, index_t done, index_t total, double elapsed_s, int columns) {
  const double part = total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 0.0;
  const auto left = done > 0 && done < total ? fmt::format(", {} left", duration(elapsed_s * (1 - part) / part)) : "";
  const auto tail = fmt::format("] {}/{}, {}{}", done, total, duration(elapsed_s), left);
  const int bar = std::min(40, columns - static_cast<int>(phase.size() + tail.size()) - 2);
  auto text = phase + " ";
  if (bar >= 5) {
    const auto full = static_cast<std::size_t>(part * bar);
    text += "[" + std::string(full, '#') + std::string(static_cast<std::size_t>(bar) - full, '.') + tail;
  } else {
    text += tail.substr(2);  // no room for the bar itself
  }
  return text.substr(0, static_cast<std::size_t>(std::max(columns, 0)));
}

}  // namespace gradcomp::report
