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

std::string ratio(const std::optional<double>& value) {
  return value ? report::format_number(*value) + "x" : std::string("-");
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

bool buckets_swept(const std::vector<MethodResult>& results) {
  using Role = Entrant::Role;
  int swept = 0;
  for (const Role role : {Role::fp32, Role::fp16, Role::bf16}) {
    swept += std::any_of(results.begin(), results.end(), [role](const MethodResult& r) {
      return r.contender.role() == role && r.contender.bucket_kib;
    });
  }
  return swept == 3;
}

Outcome outcome_of(const MethodResult& r, index_t link) {
  const double share = static_cast<double>(r.ranks) / static_cast<double>(r.workers);
  Outcome outcome{r.test_quality, share * mean(r.step_ms_over(link)), r.replicas_equal, r.reached.has_value()};
  if (r.reached) outcome.time_to_target = r.reached->time_s;
  outcome.diverged_at = r.diverged_at;
  return outcome;
}

report::Row to_row(const MethodResult& r, bool matched, const SpeedUps& speed, const Options& options,
                   const std::string& data) {
  report::Row row("train/" + options.model + "/" + r.contender.spec.label);
  row.method(r.contender.spec.text, r.contender.spec.canonical, r.contender.spec.label)
      .set("model", options.model)
      .set("data", data)
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
      .speedup(speed.vs_fp32, speed.vs_best_dense, matched)
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
        .set("wire_bytes_to_target", number(reached.wire_bytes))
        .set("speedup_to_target", report::or_null(speed.to_target));
  }
  return row;
}

report::Table to_target_table(const std::vector<MethodResult>& results, const std::vector<SpeedUps>& speeds) {
  report::Table table(
      {"method", "steps to\ntarget", "seconds to\ntarget", "sent by a rank\nto target", "speed-up\nto target"});
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& reached = results[i].reached;
    table.row({results[i].contender.spec.label, reached ? fmt::format("{}", reached->steps) : "missed",
               reached ? report::format_number(reached->time_s) : "-",
               reached ? report::format_bytes(reached->wire_bytes) : "-", ratio(speeds[i].to_target)});
  }
  return table;
}

report::Table to_table(const std::vector<MethodResult>& results, const std::vector<SpeedUps>& speeds) {
  const bool energy = std::any_of(results.begin(), results.end(), [](const auto& r) { return r.joules_per_step; });
  std::vector<std::string> header(
      {"method", "payload\nper step", "compression\nratio", "step ms\nmedian", "p95", "forward\nms", "backward\nms",
       "compress\nms", "exchange\nms", "hidden\nms", "exposed\nms", "decompress\nms", "samples\nper s",
       "test\n" + (results.empty() ? Metric() : results.front().metric).name, "speed-up\nvs fp32", "vs best\ndense"});
  const bool sampled = std::any_of(results.begin(), results.end(), [](const auto& r) { return r.sampling; });
  if (sampled) header.emplace_back("importance\nms");
  if (energy) header.emplace_back("joules\nper step");
  report::Table table(header);
  const auto stage = [](const MethodResult& r, const char* name) {
    const auto found = r.stage_ms.find(name);
    return found == r.stage_ms.end() ? std::string("-") : report::format_number(found->second);
  };
  for (std::size_t i = 0; i < results.size(); ++i) {
    const MethodResult& r = results[i];
    std::vector<std::string> cells(
        {r.contender.spec.label, report::format_bytes(r.payload_bytes),
         r.payload_bytes > 0 ? report::format_number(r.dense_bytes / r.payload_bytes) : "-",
         report::format_number(r.median_ms()), report::format_number(report::quantile(r.step_ms, 0.95)),
         stage(r, "forward"), stage(r, "backward"), stage(r, "compress"), stage(r, "exchange"), stage(r, "hidden"),
         stage(r, "exposed"), stage(r, "decompress"), report::format_number(1e3 * r.samples_per_step / r.median_ms()),
         r.diverged_at ? fmt::format("diverged at step {}", *r.diverged_at) : r.metric.text(r.test_quality),
         ratio(speeds[i].vs_fp32), ratio(speeds[i].vs_best_dense)});
    if (sampled) cells.push_back(stage(r, "importance"));
    if (energy) cells.push_back(r.joules_per_step ? report::format_number(*r.joules_per_step) : "-");
    table.row(cells);
  }
  return table;
}

}  // namespace gradcomp::train
