#pragma once
// Learning rates found by short runs (tuning.hpp), in a file that later runs read: --rates.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/report/json.hpp"
#include "gradcomp/train/contender.hpp"
#include "gradcomp/train/metric.hpp"

namespace gradcomp::train {

/// Short runs at one rate, with several seeds.
struct Trial {
  double rate = 0;
  double quality = 0,
         loss = 0;     ///< on the validation set after the last step, means over seeds; NaN where one diverged
  double seconds = 0;  ///< of training and evaluation, all seeds
};

/// How all trials of a file are made. Runs of other lengths, or of other numbers of ranks with the same batch over all
/// of them, may use its rates.
struct TrialShape {
  index_t steps = 0;
  int ranks = 0;
  index_t rates = 0, seeds = 0;  ///< of every method; of every rate
};

/// Bucket sizes in KiB of the dense controls by their names, found by timing; 0: sizes that follow from the model.
using DenseBuckets = std::map<std::string, index_t>;

/// Gives the controls without options their sizes.
void take_buckets(std::vector<Contender>& contenders, const DenseBuckets& buckets);

class Rates {
 public:
  /// An empty set under `settings`: the options that a rate depends on, each a key of the file.
  Rates(Metric metric, report::Json settings, TrialShape shape);

  /// What a file holds. Throws Error naming the path for one that is no such file, and naming the option where it was
  /// made under other settings (or, with `to_tune`, with trials of another shape).
  static Rates parse(const std::string& text, const std::string& path, Metric metric, const report::Json& settings,
                     TrialShape shape, bool to_tune);

  void add(const std::string& method, const Trial& trial);
  const Trial* find(const std::string& method, double rate) const;
  const std::vector<Trial>& trials(const std::string& method) const;

  /// The trial with the best quality; ties go to the lower loss. Null where all trials diverged.
  const Trial* best(const std::string& method) const;

  /// Whether the best rate is the lowest or the highest of its trials: a better one may lie beyond.
  bool at_edge(const std::string& method) const;

  /// The mean time of a step of a dense control in buckets of so many KiB; whether there are such times; the sizes that
  /// take the least.
  void add_bucket(const std::string& control, index_t kib, double step_ms);
  bool has_buckets(const std::string& control) const { return m_bucket_times.contains(control); }
  DenseBuckets best_buckets() const;

  /// The JSON file.
  std::string text() const;

  /// Gives every contender its best rate, `no_exchange` that of fp32, and the dense controls their best bucket sizes
  /// where these were timed. Throws Error for a contender with fewer trials here than the others.
  void apply(std::vector<Contender>& contenders, const std::string& path) const;

 private:
  Metric m_metric;
  report::Json m_settings;
  TrialShape m_shape;
  std::map<std::string, std::vector<Trial>> m_trials;               ///< by canonical spec
  std::map<std::string, std::map<index_t, double>> m_bucket_times;  ///< by control and KiB
};

/// The file options.rates for this job. To tune, a file that is missing is an empty set, and the trials of one that is
/// there must have options.tune_steps steps and `ranks` ranks.
Rates read_rates(const Options& options, const data::Task& task, int ranks);

}  // namespace gradcomp::train
