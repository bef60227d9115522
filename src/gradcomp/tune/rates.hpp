#pragma once
// --rates: a file of learning rates and bucket sizes, which short runs found (tuning.hpp) and which later runs read.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/report/json.hpp"
#include "gradcomp/train/contender.hpp"
#include "gradcomp/train/metric.hpp"
#include "gradcomp/tune/options.hpp"

namespace gradcomp::tune {

/// A trial: short runs at one rate, with several seeds.
struct Trial {
  double rate = 0;
  double quality = 0,
         loss = 0;     ///< on the validation set after the last step, means over seeds; NaN if one diverged
  double seconds = 0;  ///< of training and evaluation, all seeds
};

/// How all trials of a file were made. Other runs may use its rates, with other numbers of steps and of ranks, if the
/// batch over all ranks is the same.
struct TrialShape {
  index_t steps = 0;
  int ranks = 0;
  index_t rates = 0, seeds = 0;  ///< trials of every method; runs of every trial
};

/// Under which conditions bucket sizes were timed. A size that is the fastest here may not be so over another link or
/// with another strategy.
struct SweepConditions {
  std::string link;      ///< value of --link; empty: the real one
  std::string strategy;  ///< value of --strategy

  bool operator==(const SweepConditions&) const = default;
  /// In words, such as "link 1Gbit/s, strategy overlapped".
  std::string text() const;
};

/// The conditions of a job.
SweepConditions sweep_conditions(const train::Options& options);

/// In which form a dense control is fastest.
struct DenseForm {
  std::string method;      ///< the control's name, or this with `:reducer=ring`
  index_t bucket_kib = 0;  ///< 0: sizes that follow from the model
  bool operator==(const DenseForm&) const = default;
};
/// The methods that are timed, of each control: the library's allreduce, and over a real link our ring. An emulated
/// link charges both alike.
std::vector<std::string> dense_forms(bool real_link);
/// By the names of the controls.
using DenseForms = std::map<std::string, DenseForm>;

class Rates {
 public:
  /// An empty set. `settings`: the options that a rate depends on, each a key of the file. `sweep`: the conditions
  /// under which the bucket sizes of add_time() are measured.
  Rates(train::Metric metric, report::Json settings, TrialShape shape, SweepConditions sweep = {});

  /// Reads a file. Throws Error naming the path if it is not such a file, and naming the option if the file was made
  /// under other settings (or, with `to_tune`, with trials of another shape). With `to_tune`, times of bucket sizes
  /// under other conditions than `sweep` are dropped.
  static Rates parse(const std::string& text, const std::string& path, train::Metric metric,
                     const report::Json& settings, TrialShape shape, bool to_tune, const SweepConditions& sweep = {});

  void add(const std::string& method, const Trial& trial);
  const Trial* find(const std::string& method, double rate) const;
  const std::vector<Trial>& trials(const std::string& method) const;

  /// The trial with the best quality; ties go to the lower loss. Null if all trials diverged.
  const Trial* best(const std::string& method) const;

  /// Whether the best rate is the lowest or the highest that was tried, so that a better one may lie beyond.
  bool at_edge(const std::string& method) const;

  /// The mean step time of a dense control, as in DenseForm; whether there are times of this method in any bucket size;
  /// the fastest forms.
  void add_time(const DenseForm& form, double step_ms);
  bool has_times(const std::string& method) const { return m_bucket_times.contains(method); }
  DenseForms best_forms() const;
  /// The conditions of these times; nothing if an earlier version wrote the file, which did not say.
  const std::optional<SweepConditions>& bucket_sweep() const { return m_sweep; }

  /// The JSON file.
  std::string text() const;

  /// Gives every contender the best rate of its tuned_as(). Throws Error for a contender with fewer
  /// trials than TrialShape says. Does nothing if there are no trials at all, but bucket sizes alone.
  void apply(std::vector<train::Contender>& contenders, const std::string& path) const;

 private:
  train::Metric m_metric;
  report::Json m_settings;
  TrialShape m_shape;
  std::map<std::string, std::vector<Trial>> m_trials;               ///< by canonical spec
  std::map<std::string, std::map<index_t, double>> m_bucket_times;  ///< by DenseForm
  std::optional<SweepConditions> m_sweep;                           ///< of m_bucket_times
};

/// Reads the file of --rates for a training.
Rates read_rates(const train::Options& options, const data::Task& task, int ranks);

/// Reads the file of --rates to go on with a tuning of `ranks` ranks. If it is missing, the set is empty; if it is
/// there, its trials must be those of `options`.
Rates read_rates(const Options& options, const data::Task& task, int ranks);

}  // namespace gradcomp::tune
