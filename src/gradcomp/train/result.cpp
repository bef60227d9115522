#include "gradcomp/train/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "gradcomp/train/comparison.hpp"

namespace gradcomp::train {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The first result that is so; null if there is none.
template <class Condition>
const MethodResult* first_that(const std::vector<MethodResult>& results, const Condition& is) {
  const auto found = std::find_if(results.begin(), results.end(), is);
  return found == results.end() ? nullptr : &*found;
}

/// fp32 without options.
const MethodResult* reference_of(const std::vector<MethodResult>& results) {
  return first_that(results, [](const auto& r) { return r.contender.role == Contender::Role::fp32; });
}

/// no_exchange.
const MethodResult* bound_of(const std::vector<MethodResult>& results) {
  return first_that(results, [](const auto& r) { return r.contender.is_bound(); });
}

/// What a method lacks of the quality of fp32; NaN if one of them is missing or diverged.
double lack_of(const MethodResult& own, const MethodResult* fp32) {
  return fp32 == nullptr ? NAN : own.metric.lack(own.test_quality, fp32->test_quality);
}

/// Whether a method has the quality of fp32, as the judge of one seed says (python/gradcomp/results/judge.py). No
/// method has it if ranks that never exchange have it too, since then the task tells nothing.
bool has_quality(const MethodResult& own, const std::vector<MethodResult>& results, const JobFacts& job) {
  const MethodResult *const fp32 = reference_of(results), *const bound = bound_of(results);
  const double lack = lack_of(own, fp32), allowed = own.metric.limit(job.options.quality_tolerance);
  if (own.contender.is_bound() || !(lack <= allowed)) return false;
  const double gap = bound == nullptr ? NAN : lack_of(*bound, fp32);
  return std::isnan(gap) || (gap > allowed && lack < gap / 2);
}

/// The mean step of each block over one of the links; nothing if the method diverged.
std::vector<double> block_means(const MethodResult& r, const JobFacts& job, index_t link) {
  const index_t links = std::max<index_t>(1, std::ssize(job.links)), block = job.options.block;
  std::vector<double> means;
  index_t from = 0;
  for (index_t b = 0; b * block < job.options.steps; ++b) {
    const index_t steps = std::min(block, job.options.steps - b * block);
    const index_t to = from + steps / r.period - (first_is_untimed(steps, r.period) ? 1 : 0);
    if (to > std::ssize(r.step_ms)) return {};
    if (b % links == link) means.push_back(mean({r.step_ms.begin() + from, r.step_ms.begin() + to}));
    from = to;
  }
  return means;
}

/// The speed-up against fp32 over one of the links, with its 95 % interval over blocks, by geometric_interval() of
/// python/gradcomp/results/judge.py: the intervals of all methods but the controls hold together. "-" if the interval
/// contains 1, and if the method has not the quality of fp32, because a judge would give none either.
std::string speed_up(const MethodResult& own, const std::vector<MethodResult>& results, const JobFacts& job,
                     index_t link) {
  if (!has_quality(own, results, job)) return "-";
  const MethodResult* const fp32 = reference_of(results);
  const std::vector<double> theirs = block_means(*fp32, job, link), mine = block_means(own, job, link);
  if (mine.size() < 2) return "-";
  // With ranks that only serve, times are of as many samples as all take.
  const auto factor = [](const MethodResult& r) { return static_cast<double>(r.ranks) / r.workers; };
  const double scale = factor(*fp32) / factor(own);
  const auto is_method = [](const MethodResult& r) { return r.contender.role == Contender::Role::method; };
  const auto compared = is_method(own) ? std::count_if(results.begin(), results.end(), is_method) : 1;
  std::vector<double> logs;
  for (std::size_t b = 0; b < mine.size(); ++b) logs.push_back(std::log(scale * theirs[b] / mine[b]));
  const double centre = mean(logs), n = static_cast<double>(logs.size());
  double squares = 0;
  for (const double x : logs) squares += (x - centre) * (x - centre);
  const double t = boost::math::quantile(boost::math::students_t(n - 1), 1 - 0.025 / static_cast<double>(compared));
  const double half = t * std::sqrt(squares / (n * (n - 1))), low = std::exp(centre - half),
               high = std::exp(centre + half);
  if (low <= 1 && high >= 1) return "-";
  const auto text = [](double x) { return report::format_number(x, x < 1 ? 2 : 3); };
  return fmt::format("{} ({}-{})", text(std::exp(centre)), text(low), text(high));
}

/// The mean step over one of the links, its ratio to that of no_exchange, and the speed-up.
struct Speed {
  std::string step, of_bound, speed_up;
};
Speed speed_of(const MethodResult& own, const std::vector<MethodResult>& results, const JobFacts& job, index_t link) {
  const MethodResult* const bound = bound_of(results);
  const double ms = mean(own.step_ms_over(link));
  return {report::format_number(ms),
          report::format_number(bound == nullptr ? NAN : ms / mean(bound->step_ms_over(link))),
          speed_up(own, results, job, link)};
}

std::string quality_text(const MethodResult& r) {
  return r.diverged_at ? fmt::format("diverged at step {}", *r.diverged_at) : r.metric.text(r.test_quality);
}

/// Over steps and ranks.
double mean_slices(const Sampling& sampling) {
  index_t sum = 0, count = 0;
  for (const auto& rank : sampling.slices) {
    sum = std::accumulate(rank.begin(), rank.end(), sum);
    count += std::ssize(rank);
  }
  return count > 0 ? static_cast<double>(sum) / static_cast<double>(count) : 0.0;
}

}  // namespace

double MethodResult::mean_ms() const { return mean(step_ms); }

std::vector<double> MethodResult::step_ms_over(index_t link) const {
  std::vector<double> chosen;
  for (std::size_t i = 0; i < step_ms.size(); ++i) {
    if (step_link[i] == link) chosen.push_back(step_ms[i]);
  }
  return chosen;
}

report::Row to_row(const std::vector<MethodResult>& results, std::size_t index, const JobFacts& job) {
  const MethodResult& r = results[index];
  const Options& options = job.options;
  report::Row row("train/" + options.model + "/" + r.contender.spec.label);
  row.method(r.contender.spec.text, r.contender.spec.canonical, r.contender.spec.label)
      .set("model", options.model)
      .set("data", job.data)
      .set("parameters", std::llround(r.dense_bytes / 4))
      .set("steps", options.steps)
      .set("batch_per_rank", options.batch)
      .set("seed", options.seed)
      .set("learning_rate", r.contender.learning_rate)
      .set("strategy", r.strategy)
      .set("period", r.period)
      .set("workers", r.workers)
      .bytes(r.payload_bytes, r.header_bytes, r.wire_bytes, r.dense_bytes)
      .step_times(r.step_ms)
      .stages(r.stage_ms)
      .set("samples_per_second", 1e3 * r.samples_per_step / r.median_ms())
      .set("gflop_per_second", 1e3 * r.rank_gflop / r.median_ms())
      .quality(r.test_accuracy, r.test_loss)
      .metric(r.metric.name, r.test_quality)
      .set("validation_quality", report::or_null(r.validation_quality))
      .set("validation_loss", report::or_null(r.validation_loss))
      .set("role", to_string(r.contender.role))
      .set("lack", report::or_null(lack_of(r, reference_of(results))))
      .set("lack_allowed", r.metric.limit(options.quality_tolerance))
      .set("reference_quality", r.metric.enough(job.trivial, options.quality_tolerance))
      .density(r.density_ratio)
      .set("state_bytes", r.state_bytes)
      .set("state_bytes_per_parameter", 4 * static_cast<double>(r.state_bytes) / r.dense_bytes)
      .set("replica_hash_equal", r.contender.is_bound() ? report::Json(nullptr) : report::Json(r.replicas_equal))
      .curve(r.curve);
  if (r.diverged_at) {
    row.set("diverged_at_step", *r.diverged_at);
  } else {
    row.set("parameters_hash", fmt::format("{:016x}", r.parameters_hash));
  }
  if (r.loss_floor > 0) row.set("loss_floor", r.loss_floor);
  if (r.sampling) {
    row.set("sampler", r.sampling->sampler)
        .set("slices_per_step", mean_slices(*r.sampling))
        .set("slices", r.sampling->slices)
        .set("moved_samples", r.sampling->moved)
        .set("moved_bytes", r.sampling->moved_bytes);
  }
  if (r.staleness) row.set("staleness_mean", r.staleness->mean).set("staleness_max", r.staleness->max);
  if (r.counted_bytes) row.set("counted_bytes", *r.counted_bytes);
  if (r.joules_per_step) row.set("joules_per_step", *r.joules_per_step);
  if (r.contender.bucket_kib) row.set("bucket_kib", *r.contender.bucket_kib);
  if (!r.contender.bucket_sweep.empty()) row.set("bucket_sweep", r.contender.bucket_sweep);
  if (r.contender.tuning) {
    row.set("tuning_steps", r.contender.tuning->steps).set("tuning_s", r.contender.tuning->seconds);
  }
  if (r.target) {
    const auto number = [&](double value) { return r.reached ? report::Json(value) : report::Json(nullptr); };
    const Reached reached = r.reached.value_or(Reached{});
    row.set("target", *r.target)
        .set("target_reached", r.reached.has_value())
        .set("steps_to_target", number(static_cast<double>(reached.steps)))
        .set("time_to_target_s", number(reached.time_s))
        .set("wire_bytes_to_target", number(reached.wire_bytes));
  }
  if (!job.links.empty()) {
    report::Json links = report::Json::array();
    for (std::size_t l = 0; l < job.links.size(); ++l) {
      links.push_back({{"rate_mbit_s", 1e-6 * job.links[l].bits_per_second},
                       {"step_time_ms", report::summary(r.step_ms_over(static_cast<index_t>(l)))}});
    }
    row.set("over_links", links);
  }
  return row;
}

report::Table to_target_table(const std::vector<MethodResult>& results) {
  report::Table table({"method", "steps", "seconds", "sent by a rank"});
  for (const MethodResult& r : results) {
    table.row({r.contender.spec.label, r.reached ? fmt::format("{}", r.reached->steps) : "missed",
               r.reached ? report::format_number(r.reached->time_s) : "-",
               r.reached ? report::format_bytes(r.reached->wire_bytes) : "-"});
  }
  return table;
}

report::Table to_links_table(const std::vector<MethodResult>& results, const JobFacts& job) {
  report::Table table({"method", "link", "step ms", "of no_exchange", "speed-up"});
  for (index_t l = 0; l < std::ssize(job.links); ++l) {
    const std::string link = Link{job.links[static_cast<std::size_t>(l)].bits_per_second, 0}.text();
    for (const MethodResult& r : results) {
      const Speed speed = speed_of(r, results, job, l);
      table.row({r.contender.spec.label, link, speed.step, speed.of_bound, speed.speed_up});
    }
  }
  return table;
}

report::Table to_table(const std::vector<MethodResult>& results, const JobFacts& job) {
  const MethodResult* const fp32 = reference_of(results);
  const bool one_link = job.links.empty(), wide = job.options.wide;
  std::vector<std::string> header{"method"};
  if (one_link) header.insert(header.end(), {"step ms", "of no_exchange"});
  header.insert(header.end(), {"bytes", results.front().metric.name});
  if (one_link) header.emplace_back("speed-up");
  std::vector<std::string> stages;
  if (wide) {
    header.insert(header.end(), {"behind fp32", "compression ratio", "median ms", "p95 ms", "samples/s"});
    stages = {"forward", "backward", "compress", "exchange", "hidden", "exposed", "decompress"};
    const auto any = [&](const auto& has) { return std::any_of(results.begin(), results.end(), has); };
    if (any([](const auto& r) { return r.sampling.has_value(); })) stages.emplace_back("importance");
    for (const auto& stage : stages) header.push_back(stage + " ms");
    if (any([](const auto& r) { return r.joules_per_step.has_value(); })) header.emplace_back("joules per step");
  }
  report::Table table(header, wide ? 0 : 80);
  for (const MethodResult& r : results) {
    std::vector<std::string> cells{r.contender.spec.label};
    const Speed speed = one_link ? speed_of(r, results, job, 0) : Speed{};
    if (one_link) cells.insert(cells.end(), {speed.step, speed.of_bound});
    cells.insert(cells.end(), {report::format_bytes(r.payload_bytes), quality_text(r)});
    if (one_link) cells.push_back(speed.speed_up);
    if (wide) {
      const auto number = [&](double value) { cells.push_back(report::format_number(value)); };
      cells.push_back(r.metric.lack_text(lack_of(r, fp32)));
      number(r.payload_bytes > 0 ? r.dense_bytes / r.payload_bytes : NAN);
      number(r.median_ms());
      number(report::quantile(r.step_ms, 0.95));
      number(1e3 * r.samples_per_step / r.median_ms());
      for (const auto& stage : stages) {
        const auto found = r.stage_ms.find(stage);
        number(found == r.stage_ms.end() ? NAN : found->second);
      }
      if (header.back() == "joules per step") number(r.joules_per_step.value_or(NAN));
    }
    table.row(cells);
  }
  return table;
}

}  // namespace gradcomp::train
