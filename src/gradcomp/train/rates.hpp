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

/// One short run.
struct Trial {
  double rate = 0;
  double quality = 0, loss = 0;  ///< on the test set after the last step; NaN of a run that diverged
  double seconds = 0;            ///< of training and evaluation
};

/// How all trials of a file are made. Runs of other lengths, or of other numbers of ranks with the same batch over all
/// of them, may use its rates.
struct TrialShape {
  index_t steps = 0;
  int ranks = 0;
};

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

  /// The trial of the best quality, of equals that of the lower loss; none where all diverged.
  const Trial* best(const std::string& method) const;

  /// The JSON file.
  std::string text() const;

  /// Gives every contender its best rate; `none` that of fp32. Throws Error for one that has no trials here.
  void apply(std::vector<Contender>& contenders, const std::string& path) const;

 private:
  Metric m_metric;
  report::Json m_settings;
  TrialShape m_shape;
  std::map<std::string, std::vector<Trial>> m_trials;  ///< by canonical spec
};

/// The file options.rates for this job. To tune, a file that is missing is an empty set, and the trials of one that is
/// there must have options.tune_steps steps and `ranks` ranks.
Rates read_rates(const Options& options, const data::Task& task, int ranks);

}  // namespace gradcomp::train
