#include "gradcomp/train/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradcomp::train {
namespace {

std::string ratio(const std::optional<double>& value) {
  return value ? report::format_number(*value) + "x" : std::string("-");
}

}  // namespace

std::vector<Verdict> judge(const std::vector<MethodResult>& results, double tolerance) {
  std::vector<Outcome> outcomes;
  for (const auto& r : results) {
    const Info& info = r.contender.spec.compressor->info();
    const bool plain = r.contender.every_step();
    Outcome outcome{plain ? info.name : r.contender.spec.label,
                    plain && info.family == Info::Family::control,
                    r.contender.is_bound(),
                    r.test_quality,
                    r.median_ms(),
                    r.replicas_equal};
    outcome.missed_target = r.target && !r.reached;
    if (r.reached) outcome.time_to_target = r.reached->time_s;
    outcomes.push_back(outcome);
  }
  return judge(outcomes, results.empty() ? Metric() : results.front().metric, tolerance);
}

report::Row to_row(const MethodResult& r, const Verdict& verdict, const Options& options, const std::string& data) {
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
      .bytes(r.payload_bytes, r.header_bytes, r.wire_bytes, r.dense_bytes)
      .step_times(r.step_ms)
      .stages(r.stage_ms)
      .set("samples_per_second", 1e3 * r.samples_per_step / r.median_ms())
      .set("gflop_per_second", 1e3 * r.rank_gflop / r.median_ms())
      .quality(r.test_accuracy, r.test_loss)
      .metric(r.metric.name, r.test_quality)
      .speedup(verdict.speedup_vs_fp32, verdict.speedup_vs_best_dense, verdict.quality_matched)
      .density(r.density_ratio)
      .set("state_bytes", r.state_bytes)
      .set("state_bytes_per_parameter", 4 * static_cast<double>(r.state_bytes) / r.dense_bytes)
      .set("skipped_steps", r.skipped_steps)
      .set("replica_hash_equal", r.contender.is_bound() ? report::Json(nullptr) : report::Json(r.replicas_equal))
      .set("parameters_hash", fmt::format("{:016x}", r.parameters_hash))
      .curve(r.curve);
  if (r.loss_floor > 0) row.set("loss_floor", r.loss_floor);
  if (r.joules_per_step) row.set("joules_per_step", *r.joules_per_step);
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
        .set("speedup_to_target",
             verdict.speedup_to_target ? report::Json(*verdict.speedup_to_target) : report::Json(nullptr));
  }
  return row;
}

report::Table to_target_table(const std::vector<MethodResult>& results, const std::vector<Verdict>& verdicts) {
  report::Table table(
      {"method", "steps to\ntarget", "seconds to\ntarget", "sent by a rank\nto target", "speed-up\nto target"});
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& reached = results[i].reached;
    table.row({results[i].contender.spec.label, reached ? fmt::format("{}", reached->steps) : "missed",
               reached ? report::format_number(reached->time_s) : "-",
               reached ? report::format_bytes(reached->wire_bytes) : "-", ratio(verdicts[i].speedup_to_target)});
  }
  return table;
}

report::Table to_table(const std::vector<MethodResult>& results, const std::vector<Verdict>& verdicts) {
  const bool energy = std::any_of(results.begin(), results.end(), [](const auto& r) { return r.joules_per_step; });
  std::vector<std::string> header(
      {"method", "payload\nper step", "compression\nratio", "step ms\nmedian", "p95", "forward\nms", "backward\nms",
       "compress\nms", "exchange\nms", "hidden\nms", "exposed\nms", "decompress\nms", "samples\nper s",
       "test\n" + (results.empty() ? Metric() : results.front().metric).name, "speed-up\nvs fp32", "vs best\ndense"});
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
         r.metric.text(r.test_quality), ratio(verdicts[i].speedup_vs_fp32), ratio(verdicts[i].speedup_vs_best_dense)});
    if (energy) cells.push_back(r.joules_per_step ? report::format_number(*r.joules_per_step) : "-");
    table.row(cells);
  }
  return table;
}

}  // namespace gradcomp::train
