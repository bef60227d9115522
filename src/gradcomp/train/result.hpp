#pragma once
// What one method did in a comparison, and how it is shown: a row of the result file and a line of the table.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/report/row.hpp"
#include "gradcomp/report/table.hpp"
#include "gradcomp/train/contender.hpp"
#include "gradcomp/train/emulated_links.hpp"
#include "gradcomp/train/metric.hpp"
#include "gradcomp/train/target.hpp"

namespace gradcomp::train {

/// How many other updates came between the parameters of a gradient and its own update, over all servers and pushes.
struct Staleness {
  double mean = 0, max = 0;
};

/// How a sampler chose the batches.
struct Sampling {
  std::string sampler;                       ///< canonical spec
  std::vector<std::vector<index_t>> slices;  ///< number of importance slices, [rank][step]
  index_t moved = 0;                         ///< samples that changed ranks, over all ranks
  double moved_bytes = 0;                    ///< their bytes, which travel if ranks cannot read each other's samples
};

/// Times are the maximum over ranks (the mean for strategies whose ranks are not in step). Bytes are the maximum over
/// ranks of the mean per step.
struct MethodResult {
  Contender contender;
  std::string strategy;
  index_t period = 1;                      ///< steps from one exchange to the next
  std::vector<double> step_ms;             ///< one per step (or its share of a period's), without untimed steps
  std::vector<index_t> step_link;          ///< number of the emulated link of each step; 0 for a real link
  std::map<std::string, double> stage_ms;  ///< median per stage
  double payload_bytes = 0, header_bytes = 0, wire_bytes = 0, dense_bytes = 0;
  int ranks = 1, workers = 1;   ///< of the job; those of them that train on batches
  double samples_per_step = 0;  ///< over all workers
  double rank_gflop = 0;        ///< forward and backward arithmetic of one rank and step
  Metric metric;
  double loss_floor = 0;                               ///< Task::loss_floor()
  double validation_quality = 0, validation_loss = 0;  ///< after the last step; quality by the metric
  double test_quality = 0, test_accuracy = 0,
         test_loss = 0;            ///< the same on the test set; 0 in trials of gradcomp-tune
  std::optional<double> target;    ///< of the job
  std::optional<Reached> reached;  ///< what the target took; none if it was missed
  report::Curve curve;
  std::vector<double> density_ratio;   ///< achieved / target density, all segments and steps of this rank
  index_t state_bytes = 0;             ///< feedback and compressor memory of one rank
  std::optional<index_t> diverged_at;  ///< the step that ended the run, counted from 1; qualities are then NaN
  bool replicas_equal = true;
  std::optional<Sampling> sampling;       ///< if batches are drawn by importance
  std::optional<Staleness> staleness;     ///< with servers
  std::optional<double> counted_bytes;    ///< per step: what the kernel counted on the interface of the job
  std::optional<double> joules_per_step;  ///< of all devices of the job; evaluations excluded
  std::uint64_t parameters_hash = 0;      ///< of this rank's parameters at the end

  double median_ms() const { return report::quantile(step_ms, 0.5); }
  /// Total time of the timed steps divided by their number; NaN if there are none.
  double mean_ms() const;
  /// The times of the steps over emulated link number `link`.
  std::vector<double> step_ms_over(index_t link) const;
};

/// The job that results belong to, as far as their rows and tables tell it.
struct JobFacts {
  Options options;  ///< with the seed of the results
  std::string data;
  Trivial trivial;          ///< of the test set
  std::vector<Link> links;  ///< if there are several
};

/// The row "train/<model>/<label>" of result number `index` of one seed. It has no verdict: those are made from the
/// rows (python/gradcomp/results/judge.py).
report::Row to_row(const std::vector<MethodResult>& results, std::size_t index, const JobFacts& job);

/// The table that the program prints, a line per method: mean step, this in units of no_exchange's, bytes, quality and
/// speed-up against fp32. A speed-up stands with its 95 % interval over blocks, or not at all if this contains 1, if
/// the method lacks more of the quality of fp32 than the job allows or half of what no_exchange lacks, or if
/// no_exchange lacks no more than the job allows. With several links, to_links_table() has all that depends on them.
/// With Options::wide, rows have all columns and are longer than 80.
report::Table to_table(const std::vector<MethodResult>& results, const JobFacts& job);

/// The same figures of speed, a line per link and method.
report::Table to_links_table(const std::vector<MethodResult>& results, const JobFacts& job);

/// What each method needed to reach the target. Only for jobs with Options::target.
report::Table to_target_table(const std::vector<MethodResult>& results);

}  // namespace gradcomp::train
