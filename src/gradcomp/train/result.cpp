#include "gradcomp/train/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gradcomp::train {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// fp32 without options; null if it is not there.
const MethodResult* reference_of(const std::vector<MethodResult>& results) {
  const auto found = std::find_if(results.begin(), results.end(),
                                  [](const auto& r) { return r.contender.role() == Contender::Role::fp32; });
  return found == results.end() ? nullptr : &*found;
}

/// What a method lacks of the quality of fp32; NaN if one of them is missing or diverged.
double lack_of(const MethodResult& own, const MethodResult* fp32) {
  return fp32 == nullptr ? NAN : own.metric.lack(own.test_quality, fp32->test_quality);
}

/// fp32's time over the own one, "-" if one is missing or diverged; in brackets unless the method is known to lack no
/// more of fp32's quality than the job allows. With ranks that only serve, times are of as many samples as all take.
std::string ratio(const MethodResult& own, const MethodResult* fp32, double own_ms, double fp32_ms,
                  const JobFacts& job) {
  const auto scaled = [](const MethodResult& r, double ms) { return ms * r.ranks / r.workers; };
  const bool known = fp32 != nullptr && !fp32->diverged_at && !own.diverged_at;
  const double found = known ? scaled(*fp32, fp32_ms) / scaled(own, own_ms) : NAN;
  if (!std::isfinite(found)) return "-";
  const std::string text = report::format_number(found) + "x";
  const bool close = lack_of(own, fp32) <= own.metric.limit(job.options.quality_tolerance);
  return close && !own.contender.is_bound() ? text : "(" + text + ")";
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
      .set("role", to_string(r.contender.role()))
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
  report::Table table({"method", "steps to\ntarget", "seconds to\ntarget", "sent by a rank\nto target"});
  for (const MethodResult& r : results) {
    table.row({r.contender.spec.label, r.reached ? fmt::format("{}", r.reached->steps) : "missed",
               r.reached ? report::format_number(r.reached->time_s) : "-",
               r.reached ? report::format_bytes(r.reached->wire_bytes) : "-"});
  }
  return table;
}

report::Table to_links_table(const std::vector<MethodResult>& results, const JobFacts& job) {
  std::vector<std::string> header{"method"};
  for (const Link& link : job.links) {
    header.push_back(Link{link.bits_per_second, 0}.text() + "\nstep ms");
    header.emplace_back("fp32's time\nover its own");
  }
  report::Table table(header);
  const MethodResult* const fp32 = reference_of(results);
  for (const MethodResult& r : results) {
    std::vector<std::string> cells{r.contender.spec.label};
    for (index_t l = 0; l < std::ssize(job.links); ++l) {
      const double own = mean(r.step_ms_over(l)), reference = fp32 == nullptr ? NAN : mean(fp32->step_ms_over(l));
      cells.push_back(report::format_number(own));
      cells.push_back(ratio(r, fp32, own, reference, job));
    }
    table.row(cells);
  }
  return table;
}

report::Table to_table(const std::vector<MethodResult>& results, const JobFacts& job) {
  const bool energy = std::any_of(results.begin(), results.end(), [](const auto& r) { return r.joules_per_step; });
  std::vector<std::string> header(
      {"method", "payload\nper step", "compression\nratio", "step ms\nmedian", "p95", "forward\nms", "backward\nms",
       "compress\nms", "exchange\nms", "hidden\nms", "exposed\nms", "decompress\nms", "samples\nper s",
       "test\n" + results.front().metric.name, "behind\nfp32", "fp32's time\nover its own"});
  const bool sampled = std::any_of(results.begin(), results.end(), [](const auto& r) { return r.sampling; });
  if (sampled) header.emplace_back("importance\nms");
  if (energy) header.emplace_back("joules\nper step");
  report::Table table(header);
  const auto stage = [](const MethodResult& r, const char* name) {
    const auto found = r.stage_ms.find(name);
    return found == r.stage_ms.end() ? std::string("-") : report::format_number(found->second);
  };
  const MethodResult* const fp32 = reference_of(results);
  for (const MethodResult& r : results) {
    std::vector<std::string> cells(
        {r.contender.spec.label, report::format_bytes(r.payload_bytes),
         r.payload_bytes > 0 ? report::format_number(r.dense_bytes / r.payload_bytes) : "-",
         report::format_number(r.median_ms()), report::format_number(report::quantile(r.step_ms, 0.95)),
         stage(r, "forward"), stage(r, "backward"), stage(r, "compress"), stage(r, "exchange"), stage(r, "hidden"),
         stage(r, "exposed"), stage(r, "decompress"), report::format_number(1e3 * r.samples_per_step / r.median_ms()),
         quality_text(r), r.metric.lack_text(lack_of(r, fp32)),
         ratio(r, fp32, r.mean_ms(), fp32 == nullptr || !job.links.empty() ? NAN : fp32->mean_ms(), job)});
    if (sampled) cells.push_back(stage(r, "importance"));
    if (energy) cells.push_back(r.joules_per_step ? report::format_number(*r.joules_per_step) : "-");
    table.row(cells);
  }
  return table;
}

}  // namespace gradcomp::train
