#pragma once
// The outcome of a comparison: verdicts, rows of the result file, and tables.
#include "gradcomp/report/result_file.hpp"
#include "gradcomp/train/link_sweep.hpp"

class Outcomes {
 public:
  /// Judges the results of all seeds. `links`: null if the link is real.
  Outcomes(std::vector<gradcomp::train::Repeat> repeats, const gradcomp::data::Task& task,
           const gradcomp::train::Options& options, const gradcomp::train::EmulatedLinks* links);

  /// Adds a row for every seed and contender. If there are several seeds, also adds a row over all seeds for every
  /// contender.
  void add_rows(gradcomp::report::ResultFile& file) const;

  /// Prints a table per seed; if there are several seeds, a table over all of them; if there are several links, a table
  /// over these.
  void print() const;

 private:
  std::vector<gradcomp::train::SpeedUps> speeds(std::size_t seed) const;

  std::vector<gradcomp::train::Repeat> m_repeats;
  gradcomp::train::Options m_options;
  std::string m_data;
  gradcomp::train::Rules m_rules;
  std::string m_no_reference;
  gradcomp::train::LinkSweep m_sweep;  ///< empty unless there are several links
  std::vector<gradcomp::train::Verdict>
      m_verdicts;  ///< with several links: no speed-ups, because each link has its own
};
