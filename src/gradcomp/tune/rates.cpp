#include "gradcomp/tune/rates.hpp"

#include <algorithm>
#include <cmath>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/number.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/report/read_json.hpp"
#include "gradcomp/report/row.hpp"
#include "gradcomp/train/options_json.hpp"

namespace gradcomp::tune {
namespace {

constexpr const char* format = "gradcomp-rates-2";

constexpr double largest = 1e300;
constexpr index_t most = index_t{1} << 50;  ///< of steps, trials and KiB

/// A quality or a loss, which is null if the trial diverged.
double number(const report::Json& json, const std::string& what) {
  return json.is_null() ? std::nan("") : report::real_number(json, what, -largest, largest);
}

index_t kib_of(const std::string& text, const std::string& what) {
  const auto kib = to_number<index_t>(text);
  require(kib && *kib >= 0 && *kib <= most, "{}: the bucket size '{}' is not allowed; allowed: 0 to {}", what, text,
          most);
  return *kib;
}

void check_form(const std::string& method, const std::string& what) {
  const auto forms = dense_forms(true);
  require(std::find(forms.begin(), forms.end(), method) != forms.end(), "{}: '{}' is no dense control; allowed: {}",
          what, method, fmt::join(forms, ", "));
}

std::optional<SweepConditions> read_conditions(const report::Json& file) {
  if (!file.contains("bucket_sweep")) return std::nullopt;
  const report::Json& sweep = file.at("bucket_sweep");
  return SweepConditions{sweep.at("link").get<std::string>(), sweep.at("strategy").get<std::string>()};
}

}  // namespace

std::string SweepConditions::text() const {
  return fmt::format("{}, strategy {}", link.empty() ? "real link" : "link " + link, strategy);
}

std::vector<std::string> dense_forms(bool real_link) {
  std::vector<std::string> forms;
  for (const std::string control : {"fp32", "fp16", "bf16"}) {
    forms.push_back(control);
    if (real_link) forms.push_back(control + ":reducer=ring");
  }
  return forms;
}

SweepConditions sweep_conditions(const train::Options& options) { return {options.link, options.strategy}; }

Rates::Rates(train::Metric metric, report::Json settings, TrialShape shape, SweepConditions sweep)
    : m_metric(std::move(metric)), m_settings(std::move(settings)), m_shape(shape), m_sweep(std::move(sweep)) {}

Rates Rates::parse(const std::string& text, const std::string& path, train::Metric metric, const report::Json& settings,
                   TrialShape shape, bool to_tune, const SweepConditions& sweep) {
  Rates rates(std::move(metric), settings, shape, sweep);
  const std::string where = fmt::format("--rates {}: not a file of learning rates", path);
  try {
    const auto file = report::parse_json(text, where);
    require(file.at("format") == format, "--rates {}: not a file of learning rates ({})", path, format);
    for (const auto& [key, value] : settings.items()) {
      const auto& found = file.at("settings").at(key);
      require(found == value, "--rates {}: tuned for {} {}, but this job has {}", path, key, found.dump(),
              value.dump());
    }
    const auto count = [&](const char* key, index_t limit = most) {
      return report::whole_number(file.at(key), fmt::format("{}: {}", where, key), 0, limit);
    };
    const TrialShape found{count("trial_steps"), static_cast<int>(count("trial_ranks", 1 << 30)), count("trial_rates"),
                           count("trial_seeds")};
    require(!to_tune || found.steps == shape.steps, "--rates {}: its trials have {} steps, but --tune-steps is {}",
            path, found.steps, shape.steps);
    require(!to_tune || found.ranks == shape.ranks, "--rates {}: its trials have {} ranks, but this job has {}", path,
            found.ranks, shape.ranks);
    require(!to_tune || found.rates == shape.rates, "--rates {}: its methods have {} trials, but --tune-trials is {}",
            path, found.rates, shape.rates);
    require(!to_tune || found.seeds == shape.seeds, "--rates {}: its trials have {} seeds, but --tune-seeds is {}",
            path, found.seeds, shape.seeds);
    rates.m_shape = found;
    for (const auto& [method, entry] : file.at("methods").items()) {
      for (const auto& t : entry.at("trials")) {
        const std::string what = fmt::format("{}: a trial of '{}'", where, method);
        rates.add(method, {report::real_number(t.at("lr"), what, 1e-12, 1e6), number(t.at("quality"), what),
                           number(t.at("loss"), what), report::real_number(t.at("seconds"), what, 0, largest)});
      }
      const Trial* const best = rates.best(method);
      require(best == nullptr || entry.at("lr") == report::Json(best->rate),
              "{}: '{}' has lr {}, but its best trial has {}; only trials choose the rate", where, method,
              entry.at("lr").dump(), best == nullptr ? 0 : best->rate);
    }
    const std::optional<SweepConditions> swept = read_conditions(file);
    const report::Json& buckets = file.at("bucket_step_ms");
    if (!to_tune) rates.m_sweep = swept;
    if (rates.m_sweep == swept) {
      for (const auto& [control, times] : buckets.items()) {
        check_form(control, where);
        for (const auto& [kib, step_ms] : times.items()) {
          rates.add_time({control, kib_of(kib, where)}, report::real_number(step_ms, where, 0, largest));
        }
      }
    }
  } catch (const report::Json::exception& error) {
    throw Error(fmt::format("{}: {}", where, error.what()));
  }
  return rates;
}

void Rates::add(const std::string& method, const Trial& trial) { m_trials[method].push_back(trial); }

const std::vector<Trial>& Rates::trials(const std::string& method) const {
  static const std::vector<Trial> none;
  const auto found = m_trials.find(method);
  return found == m_trials.end() ? none : found->second;
}

const Trial* Rates::find(const std::string& method, double rate) const {
  for (const Trial& trial : trials(method)) {
    if (trial.rate == rate) return &trial;
  }
  return nullptr;
}

const Trial* Rates::best(const std::string& method) const {
  const Trial* best = nullptr;
  for (const Trial& trial : trials(method)) {
    if (!std::isfinite(trial.quality)) continue;
    const bool better = best == nullptr || !m_metric.reaches(best->quality, trial.quality) ||
                        (trial.quality == best->quality && trial.loss < best->loss);
    if (better) best = &trial;
  }
  return best;
}

bool Rates::at_edge(const std::string& method) const {
  const Trial* chosen = best(method);
  if (chosen == nullptr) return true;
  bool below = false, above = false;
  for (const Trial& trial : trials(method)) {
    below = below || trial.rate < chosen->rate;
    above = above || trial.rate > chosen->rate;
  }
  return !below || !above;
}

void Rates::add_time(const DenseForm& form, double step_ms) { m_bucket_times[form.method][form.bucket_kib] = step_ms; }

DenseForms Rates::best_forms() const {
  DenseForms best;
  std::map<std::string, double> least;
  for (const auto& [method, times] : m_bucket_times) {
    const std::string control = method.substr(0, method.find(':'));
    for (const auto& [kib, step_ms] : times) {
      if (least.contains(control) && least[control] <= step_ms) continue;
      least[control] = step_ms;
      best[control] = {method, kib};
    }
  }
  return best;
}

std::string Rates::text() const {
  report::Json methods = report::Json::object();
  for (const auto& [method, trials] : m_trials) {
    report::Json list = report::Json::array();
    double seconds = 0;
    for (const Trial& t : trials) {
      list.push_back({{"lr", t.rate},
                      {"quality", report::or_null(t.quality)},
                      {"loss", report::or_null(t.loss)},
                      {"seconds", t.seconds}});
      seconds += t.seconds;
    }
    const Trial* chosen = best(method);
    methods[method] = {{"lr", chosen != nullptr ? report::Json(chosen->rate) : report::Json(nullptr)},
                       {"seconds", seconds},
                       {"trials", list}};
  }
  report::Json buckets = report::Json::object();
  for (const auto& [control, times] : m_bucket_times) {
    for (const auto& [kib, step_ms] : times) buckets[control][std::to_string(kib)] = step_ms;
  }
  report::Json file{{"format", format},
                    {"metric", m_metric.name},
                    {"settings", m_settings},
                    {"trial_steps", m_shape.steps},
                    {"trial_ranks", m_shape.ranks},
                    {"trial_rates", m_shape.rates},
                    {"trial_seeds", m_shape.seeds},
                    {"bucket_step_ms", buckets},
                    {"methods", methods}};
  if (m_sweep && !m_bucket_times.empty()) {
    file["bucket_sweep"] = {{"link", m_sweep->link}, {"strategy", m_sweep->strategy}};
  }
  return file.dump(1) + "\n";
}

void Rates::apply(std::vector<train::Contender>& contenders, const std::string& path) const {
  if (m_trials.empty() && !m_bucket_times.empty()) return;
  for (train::Contender& c : contenders) {
    const std::string key = c.tuned_as();
    if (c.is_bound() && trials(key).empty()) continue;  // a bound needs no rate of its own
    const auto made = std::ssize(trials(key));
    require(made == m_shape.rates, "--rates {}: '{}' has {} of {} trials; gradcomp-tune makes the others", path,
            c.spec.label, made, m_shape.rates);
    const Trial* chosen = best(key);
    require(chosen != nullptr, "--rates {}: '{}' diverged in all trials", path, c.spec.label);
    c.learning_rate = chosen->rate;
    c.tuning = train::TuningCost{};
    for (const Trial& trial : trials(key)) {
      c.tuning->steps += m_shape.steps * m_shape.seeds;
      c.tuning->seconds += trial.seconds;
    }
  }
}

Rates read_rates(const train::Options& options, const data::Task& task, int ranks) {
  const auto bytes = data::read_file(options.rates);
  return Rates::parse({bytes.begin(), bytes.end()}, options.rates, train::Metric(task.shape().kind),
                      train::rate_settings(options, task, ranks), {}, false);
}

Rates read_rates(const Options& options, const data::Task& task, int ranks) {
  const train::Metric metric(task.shape().kind);
  const auto settings = train::rate_settings(options.train, task, ranks);
  const TrialShape shape{options.steps, ranks, options.trials, options.seeds};
  const SweepConditions sweep = sweep_conditions(options.train);
  const std::string& path = options.train.rates;
  if (!exists(data::status_of(path))) return {metric, settings, shape, sweep};
  const auto bytes = data::read_file(path);
  return Rates::parse({bytes.begin(), bytes.end()}, path, metric, settings, shape, true, sweep);
}

}  // namespace gradcomp::tune
