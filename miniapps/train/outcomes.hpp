#pragma once
// What a comparison found: verdicts, rows of the result file, tables.
#include "gradcomp/report/result_file.hpp"
#include "gradcomp/train/link_sweep.hpp"

class Outcomes {
 public:
  /// Judges the results of all seeds. `links`: null of a real link.
  Outcomes(std::vector<gradcomp::train::Repeat> repeats, const gradcomp::data::Task& task,
           const gradcomp::train::Options& options, const gradcomp::train::EmulatedLinks* links);

  /// A row for every seed and contender, and with several seeds one for every contender.
  void add_rows(gradcomp::report::ResultFile& file) const;

  /// Tables of each seed, and of all where there are several; over several links a table of them.
  void print() const;

 private:
  std::vector<gradcomp::train::SpeedUps> speeds(std::size_t seed) const;

  std::vector<gradcomp::train::Repeat> m_repeats;
  gradcomp::train::Options m_options;
  std::string m_data;
  gradcomp::train::Rules m_rules;
  std::string m_no_reference;
  gradcomp::train::LinkSweep m_sweep;                ///< empty but with several links
  std::vector<gradcomp::train::Verdict> m_verdicts;  ///< with several links without speed-ups: each link has its own
};
