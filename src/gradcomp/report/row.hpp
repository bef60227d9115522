#pragma once
// One row of a result file: one method and case. A thin layer over JSON, with the names and units of shared columns in
// one place (docs/results.schema.json); set() adds any other.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gradcomp/core/types.hpp"
#include "gradcomp/report/json.hpp"

namespace gradcomp::report {

/// The number; null if there is none or if it is not finite.
Json or_null(std::optional<double> value);

/// Order statistics of samples: {median, p5, p95, minimum, mean, count}; null values when there are none.
Json summary(const std::vector<double>& samples);

/// Samples::quantile of `samples`.
double quantile(const std::vector<double>& samples, double q);

/// Training progress: one entry per evaluation point in every array.
struct Curve {
  std::vector<index_t> step;
  std::vector<double> time_s;      ///< training time of this method up to here, evaluations excluded
  std::vector<double> wire_bytes;  ///< bytes that one rank sent up to here
  std::vector<double> loss;        ///< training loss, mean since the last point
  std::vector<double> accuracy;    ///< validation accuracy, 0 to 1; NaN (null in the file) if not evaluated
  std::vector<double> quality;     ///< quality on the validation set, by the row's metric
};

class Row {
 public:
  /// `name` identifies the case in every file, e.g. "train/resnet20/top_k:ratio=0.01".
  explicit Row(const std::string& name);

  /// Sets any column to a vector, map, string, number or Json. NaN becomes null.
  template <class Value>
  Row& set(const std::string& key, Value&& value) {
    m_json[key] = std::forward<Value>(value);
    return *this;
  }

  /// The method as typed, with defaults filled in, and as tables show it.
  Row& method(const std::string& text, const std::string& canonical, const std::string& label);

  /// Per step and rank: message bytes, their headers, bytes sent by the algorithm's true volume; and the bytes of the
  /// dense float gradient. Adds compression_ratio = dense / payload (null when nothing is sent).
  Row& bytes(double payload, double header, double wire, double dense);

  /// Whole-step times in ms, without untimed steps, maximum over ranks: step_time_ms, step_times_ms (raw) and the
  /// columns of Google Benchmark. `cpu_ms` is the processor time of a step; without it cpu_time repeats real_time.
  Row& step_times(const std::vector<double>& samples_ms, std::optional<double> cpu_ms = {});

  /// Median ms per stage (data, forward, backward, compress, exchange, exposed, decompress, update).
  Row& stages(const std::map<std::string, double>& milliseconds);

  /// Accuracy (0 to 1) and loss on the test set.
  Row& quality(double test_accuracy, double test_loss);

  /// The figure that methods are compared by ("accuracy" or "perplexity") and its value on the test set.
  Row& metric(const std::string& name, double test_quality);

  Row& curve(const Curve& curve);

  /// Achieved / target density over segments and steps: density_ratio = {p5, p50, p95, max}, and density_ratio_mean,
  /// _std, _rms, _p5, _p50, _p95 and _max. Without ratios (the method has no target) the first is null and the others
  /// are left out.
  Row& density(const std::vector<double>& ratios);

  /// The columns density_ratio<infix>_mean to _max; left out without samples.
  Row& density_columns(const std::string& infix, const std::vector<double>& ratios);

  /// One allreduce case: dense bytes reduced, times in ms, bus bandwidth factor as in nccl-tests (2 (n - 1) / n), and
  /// the number of wrong elements that the check found. Adds dense_bytes, time_ms, times_ms, alg_bw_gb_s, bus_bw_gb_s,
  /// wrong.
  Row& reduction(index_t elements, int ranks, const std::vector<double>& samples_ms, index_t wrong);

  /// Samples in ms: their statistics and the raw values under two keys, and the columns of Google Benchmark.
  Row& times(const std::string& summary_key, const std::string& raw_key, const std::vector<double>& samples_ms,
             std::optional<double> cpu_ms = {});

  const Json& json() const { return m_json; }

 private:
  Json m_json;
};

}  // namespace gradcomp::report
