#include "reporter.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "gradcomp/report/table.hpp"

namespace gradcomp::bench {
namespace {

/// A number of the row, or "-" if it has none.
std::string cell(const report::Json& row, const char* key, double scale = 1) {
  const auto found = row.find(key);
  if (found == row.end() || !found->is_number()) return "-";
  return report::format_number(scale * found->get<double>());
}

/// Prints without throwing: that nobody reads must not end the measurement. The program tells of it at its end.
void print(const std::string& text) { std::fputs(text.c_str(), stdout); }

std::string line(const report::Json& row, std::size_t width) {
  const auto& time = row.at("time_ms");
  return fmt::format("{:<{}} {:>7} {:>10} {:>10} {:>10} {:>12} {:>10} {:>10} {:>9} {:>12}\n",
                     row.at("name").get<std::string>(), width, row.at("iterations").get<index_t>(),
                     cell(time, "median"), cell(time, "p5"), cell(time, "p95"), cell(row, "elements_per_second", 1e-6),
                     cell(row, "gb_per_second"), cell(row, "gflop_per_second"), cell(row, "read_limit_ratio"),
                     cell(row, "payload_bytes"));
}

}  // namespace

Reporter::Reporter(const Session& session, std::size_t runs, std::size_t width)
    : m_session(session), m_runs(runs), m_width(width), m_bar(true) {}

bool Reporter::ReportContext(const Context&) {
  print(fmt::format("{:<{}} {:>7} {:>10} {:>10} {:>10} {:>12} {:>10} {:>10} {:>9} {:>12}\n", "case", m_width, "samples",
                    "median ms", "p5 ms", "p95 ms", "Melements/s", "GB/s", "GFLOP/s", "x read", "payload B"));
  m_bar.phase("bench", static_cast<index_t>(m_runs));
  return true;
}

void Reporter::ReportRuns(const std::vector<Run>& runs) {
  m_bar.clear();
  for (const auto& run : runs) {
    if (run.skipped == benchmark::internal::NotSkipped) continue;
    print(fmt::format("{:<{}} FAILED: {}\n", run.run_name.function_name, m_width, run.skip_message));
  }
  // A case that passed its last round has added its row.
  for (; m_rows < m_session.rows.size(); ++m_rows) print(line(m_session.rows[m_rows].json(), m_width));
  std::fflush(stdout);
  m_bar.advance();
}

}  // namespace gradcomp::bench
