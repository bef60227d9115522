#include "gradcomp/report/row.hpp"

#include <cmath>

#include "gradcomp/measure/density.hpp"
#include "gradcomp/measure/samples.hpp"

namespace gradcomp::report {
namespace {

Json numbers(const std::vector<double>& values) {
  Json array = Json::array();
  for (const double value : values) array.push_back(or_null(value));
  return array;
}

}  // namespace

Json or_null(std::optional<double> value) { return value && std::isfinite(*value) ? Json(*value) : Json(nullptr); }

double quantile(const std::vector<double>& samples, double q) { return Samples(samples).quantile(q); }

Json summary(const std::vector<double>& values) {
  const Samples samples(values);
  return {{"median", or_null(samples.median())},   {"p5", or_null(samples.p5())},     {"p95", or_null(samples.p95())},
          {"minimum", or_null(samples.minimum())}, {"mean", or_null(samples.mean())}, {"count", samples.count()}};
}

Row::Row(const std::string& name) {
  m_json["name"] = name;
  m_json["run_name"] = name;
  m_json["run_type"] = "iteration";
  m_json["repetitions"] = 1;
  m_json["repetition_index"] = 0;
  m_json["threads"] = 1;
}

Row& Row::method(const std::string& text, const std::string& canonical, const std::string& label) {
  return set("method", text).set("method_canonical", canonical).set("label", label);
}

Row& Row::bytes(double payload, double header, double wire, double dense) {
  set("dense_bytes", or_null(dense)).set("payload_bytes", or_null(payload));
  set("header_bytes", or_null(header)).set("wire_bytes", or_null(wire));
  return set("compression_ratio", payload > 0 ? or_null(dense / payload) : Json(nullptr));
}

Row& Row::times(const std::string& summary_key, const std::string& raw_key, const std::vector<double>& samples_ms,
                std::optional<double> cpu_ms) {
  const Json statistics = summary(samples_ms);
  m_json["iterations"] = samples_ms.size();
  m_json["real_time"] = statistics["median"];
  m_json["cpu_time"] = cpu_ms ? or_null(cpu_ms) : statistics["median"];
  m_json["time_unit"] = "ms";
  m_json[summary_key] = statistics;
  m_json[raw_key] = numbers(samples_ms);
  return *this;
}

Row& Row::step_times(const std::vector<double>& samples_ms, std::optional<double> cpu_ms) {
  return times("step_time_ms", "step_times_ms", samples_ms, cpu_ms);
}

Row& Row::stages(const std::map<std::string, double>& milliseconds) {
  Json stages = Json::object();
  for (const auto& [stage, value] : milliseconds) stages[stage] = or_null(value);
  return set("stages_ms", stages);
}

Row& Row::quality(double test_accuracy, double test_loss) {
  return set("test_accuracy", or_null(test_accuracy)).set("test_loss", or_null(test_loss));
}

Row& Row::metric(const std::string& name, double test_quality) {
  return set("metric", name).set("test_quality", or_null(test_quality));
}

Row& Row::curve(const Curve& curve) {
  return set("curve", Json{{"step", curve.step},
                           {"time_s", numbers(curve.time_s)},
                           {"wire_bytes", numbers(curve.wire_bytes)},
                           {"loss", numbers(curve.loss)},
                           {"accuracy", numbers(curve.accuracy)},
                           {"quality", numbers(curve.quality)}});
}

Row& Row::density(const std::vector<double>& ratios) {
  if (ratios.empty()) return set("density_ratio", nullptr);
  const DensityStatistics s(ratios);
  set("density_ratio",
      Json{{"p5", or_null(s.p5)}, {"p50", or_null(s.p50)}, {"p95", or_null(s.p95)}, {"max", or_null(s.max)}});
  return density_columns("", ratios);
}

Row& Row::density_columns(const std::string& infix, const std::vector<double>& ratios) {
  if (ratios.empty()) return *this;
  const DensityStatistics s(ratios);
  const std::string name = "density_ratio" + infix;
  set(name + "_mean", or_null(s.mean)).set(name + "_std", or_null(s.std)).set(name + "_rms", or_null(s.rms));
  set(name + "_p5", or_null(s.p5)).set(name + "_p50", or_null(s.p50)).set(name + "_p95", or_null(s.p95));
  return set(name + "_max", or_null(s.max));
}

Row& Row::reduction(index_t elements, int ranks, const std::vector<double>& samples_ms, index_t wrong) {
  const double dense = 4.0 * static_cast<double>(elements);
  times("time_ms", "times_ms", samples_ms);
  set("elements", elements).set("dense_bytes", dense).set("ranks", ranks);
  // GB/s of dense gradient: the rate at which a training job sees its gradient reduced, whatever travelled.
  const double milliseconds = samples_ms.empty() ? 0 : quantile(samples_ms, 0.5);
  const std::optional<double> rate = milliseconds > 0 ? std::optional(dense / milliseconds * 1e-6) : std::nullopt;
  set("alg_bw_gb_s", or_null(rate));
  set("bus_bw_gb_s", rate ? or_null(*rate * 2.0 * (ranks - 1) / ranks) : Json(nullptr));
  return set("wrong", wrong);
}

}  // namespace gradcomp::report
