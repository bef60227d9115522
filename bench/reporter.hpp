#pragma once
// The output on the terminal: a progress bar, and a line for each case that ends.
#include <benchmark/benchmark.h>

#include "case.hpp"
#include "gradcomp/report/progress.hpp"

namespace gradcomp::bench {

class Reporter final : public benchmark::BenchmarkReporter {
 public:
  /// `runs`: the number of runs. `width`: the length of the longest name of a case. Rows are read from the session.
  Reporter(const Session& session, std::size_t runs, std::size_t width);

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override { m_bar.clear(); }

 private:
  const Session& m_session;
  std::size_t m_runs, m_width;
  std::size_t m_rows = 0;  ///< rows that were shown
  report::ProgressBar m_bar;
};

}  // namespace gradcomp::bench
