#pragma once
// What one method did in a comparison, and how it is shown: a row of the result file and a line of the table.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/report/row.hpp"
#include "gradcomp/report/table.hpp"
#include "gradcomp/train/contender.hpp"
#include "gradcomp/train/target.hpp"
#include "gradcomp/train/verdict.hpp"

namespace gradcomp::train {

/// Times are the maximum over ranks, bytes the maximum over ranks of the mean per step.
struct MethodResult {
  Contender contender;
  std::string strategy;
  index_t period = 1;                      ///< steps from one exchange to the next
  std::vector<double> step_ms;             ///< one per step (or its share of a period's), warm-up excluded
  std::map<std::string, double> stage_ms;  ///< median per stage
  double payload_bytes = 0, header_bytes = 0, wire_bytes = 0, dense_bytes = 0;
  double samples_per_step = 0;  ///< over all ranks
  double rank_gflop = 0;        ///< forward and backward arithmetic of one rank and step
  Metric metric;
  double loss_floor = 0;    ///< Task::loss_floor()
  double test_quality = 0;  ///< by the metric
  double test_accuracy = 0, test_loss = 0;
  std::optional<double> target;    ///< of the job
  std::optional<Reached> reached;  ///< what the target took; none where it was missed
  report::Curve curve;
  std::vector<double> density_ratio;  ///< achieved / target density, all segments and steps of this rank
  index_t state_bytes = 0;            ///< feedback and compressor memory of one rank
  index_t skipped_steps = 0;
  bool replicas_equal = true;
  std::optional<double> joules_per_step;  ///< of all devices of the job; evaluations excluded
  std::uint64_t parameters_hash = 0;      ///< of this rank's, at the end

  double median_ms() const { return report::quantile(step_ms, 0.5); }
};

/// Verdicts of all results, in order (verdict.hpp).
std::vector<Verdict> judge(const std::vector<MethodResult>& results, double tolerance);

/// The row "train/<model>/<label>" of the result file; `data` names the data set.
report::Row to_row(const MethodResult& result, const Verdict& verdict, const Options& options, const std::string& data);

/// The table that the program prints: one line per method, quality before speed.
report::Table to_table(const std::vector<MethodResult>& results, const std::vector<Verdict>& verdicts);

/// What the target took each method; with Options::target only.
report::Table to_target_table(const std::vector<MethodResult>& results, const std::vector<Verdict>& verdicts);

}  // namespace gradcomp::train
