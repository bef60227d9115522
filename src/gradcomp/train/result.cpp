#include "gradcomp/train/result.hpp"

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
    const Info& info = r.spec.compressor->info();
    outcomes.push_back({info.name, info.family == Info::Family::control, r.spec.common.text("reducer") == "local",
                        r.test_quality, r.median_ms(), r.replicas_equal});
  }
  return judge(outcomes, results.empty() ? Metric() : results.front().metric, tolerance);
}

report::Row to_row(const MethodResult& r, const Verdict& verdict, const Options& options, const std::string& data) {
  report::Row row("train/" + options.model + "/" + r.spec.label);
  row.method(r.spec.text, r.spec.canonical, r.spec.label)
      .set("model", options.model)
      .set("data", data)
      .set("parameters", std::llround(r.dense_bytes / 4))
      .set("steps", options.steps)
      .set("batch_per_rank", options.batch)
      .set("seed", options.seed)
      .set("learning_rate", r.learning_rate)
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
      .set("skipped_steps", r.skipped_steps)
      .set("replica_hash_equal", r.replicas_equal)
      .curve(r.curve);
  return row;
}

report::Table to_table(const std::vector<MethodResult>& results, const std::vector<Verdict>& verdicts) {
  report::Table table({"method", "payload\nper step", "compression\nratio", "step ms\nmedian", "p95", "forward\nms",
                       "backward\nms", "compress\nms", "exchange\nms", "exposed\nms", "decompress\nms",
                       "samples\nper s", "test\n" + (results.empty() ? Metric() : results.front().metric).name,
                       "speed-up\nvs fp32", "vs best\ndense"});
  const auto stage = [](const MethodResult& r, const char* name) {
    const auto found = r.stage_ms.find(name);
    return found == r.stage_ms.end() ? std::string("-") : report::format_number(found->second);
  };
  for (std::size_t i = 0; i < results.size(); ++i) {
    const MethodResult& r = results[i];
    table.row({r.spec.label, report::format_bytes(r.payload_bytes),
               r.payload_bytes > 0 ? report::format_number(r.dense_bytes / r.payload_bytes) : "-",
               report::format_number(r.median_ms()), report::format_number(report::quantile(r.step_ms, 0.95)),
               stage(r, "forward"), stage(r, "backward"), stage(r, "compress"), stage(r, "exchange"),
               stage(r, "exposed"), stage(r, "decompress"),
               report::format_number(1e3 * r.samples_per_step / r.median_ms()), r.metric.text(r.test_quality),
               ratio(verdicts[i].speedup_vs_fp32), ratio(verdicts[i].speedup_vs_best_dense)});
  }
  return table;
}

}  // namespace gradcomp::train
