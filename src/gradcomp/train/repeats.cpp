#include "gradcomp/train/repeats.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <functional>
#include <limits>

namespace gradcomp::train {
namespace {

using Figure = std::function<std::optional<double>(const MethodResult&, const Verdict&)>;

/// The figure of every seed that has it.
std::vector<double> collect(const std::vector<Repeat>& repeats, std::size_t index, const Figure& figure) {
  std::vector<double> values;
  for (const Repeat& repeat : repeats) {
    const auto value = figure(repeat.results[index], repeat.verdicts[index]);
    if (value) values.push_back(*value);
  }
  return values;
}

/// The same where every seed has it, else nothing: a mean over the lucky seeds alone would flatter.
std::vector<double> collect_all(const std::vector<Repeat>& repeats, std::size_t index, const Figure& figure) {
  const auto values = collect(repeats, index, figure);
  return values.size() == repeats.size() ? values : std::vector<double>();
}

const Figure quality = [](const MethodResult& r, const Verdict&) { return r.test_quality; };
const Figure step_ms = [](const MethodResult& r, const Verdict&) { return r.median_ms(); };
const Figure wire = [](const MethodResult& r, const Verdict&) { return r.wire_bytes; };
const Figure vs_fp32 = [](const MethodResult&, const Verdict& v) { return v.speedup_vs_fp32; };
const Figure vs_dense = [](const MethodResult&, const Verdict& v) { return v.speedup_vs_best_dense; };
const Figure vs_target = [](const MethodResult&, const Verdict& v) { return v.speedup_to_target; };

template <class Member>
Figure of_target(Member member) {
  return [member](const MethodResult& r, const Verdict&) {
    return r.reached ? std::optional(static_cast<double>((*r.reached).*member)) : std::nullopt;
  };
}

report::Json to_json(const MeanInterval& m) {
  if (!std::isfinite(m.mean)) return nullptr;
  report::Json json{{"mean", m.mean}, {"low", nullptr}, {"high", nullptr}};
  if (m.half_width && std::isfinite(*m.half_width)) {
    json["low"] = m.mean - *m.half_width;
    json["high"] = m.mean + *m.half_width;
  }
  return json;
}

}  // namespace

MeanInterval::MeanInterval(const std::vector<double>& samples) : mean(std::numeric_limits<double>::quiet_NaN()) {
  if (samples.empty()) return;
  const double n = static_cast<double>(samples.size());
  double sum = 0, squares = 0;
  for (const double x : samples) sum += x;
  mean = sum / n;
  if (samples.size() < 2) return;
  for (const double x : samples) squares += (x - mean) * (x - mean);
  const boost::math::students_t distribution(n - 1);
  half_width = boost::math::quantile(distribution, 0.975) * std::sqrt(squares / (n - 1) / n);
}

std::string MeanInterval::text() const {
  const std::string value = report::format_number(mean, 4);
  return half_width ? value + " +- " + report::format_number(*half_width, 2) : value;
}

report::Row to_row(const std::vector<Repeat>& repeats, std::size_t index, const Options& options,
                   const std::string& data) {
  const MethodResult& first = repeats.front().results[index];
  const MethodSpec& spec = first.contender.spec;
  report::Json seeds = report::Json::array();
  for (const Repeat& repeat : repeats) seeds.push_back(repeat.seed);
  const auto all = [&](const Figure& figure) { return to_json(MeanInterval(collect_all(repeats, index, figure))); };
  const auto matched = std::all_of(repeats.begin(), repeats.end(),
                                   [&](const Repeat& repeat) { return repeat.verdicts[index].quality_matched; });
  report::Row row("train/" + options.model + "/" + spec.label + "/seeds");
  row.method(spec.text, spec.canonical, spec.label)
      .set("run_type", "aggregate")
      .set("aggregate_name", "mean")
      .set("repetitions", repeats.size())
      .set("iterations", repeats.size())
      .set("real_time", MeanInterval(collect_all(repeats, index, step_ms)).mean)
      .set("cpu_time", MeanInterval(collect_all(repeats, index, step_ms)).mean)
      .set("time_unit", "ms")
      .set("model", options.model)
      .set("data", data)
      .set("seeds", seeds)
      .set("metric", first.metric.name)
      .set("test_quality_over_seeds", all(quality))
      .set("step_time_ms_over_seeds", all(step_ms))
      .set("wire_bytes_over_seeds", all(wire))
      .set("quality_matched", matched)
      .set("speedup_vs_fp32_over_seeds", all(vs_fp32))
      .set("speedup_vs_best_dense_over_seeds", all(vs_dense));
  if (!options.target.empty()) {
    row.set("seeds_at_target", collect(repeats, index, of_target(&Reached::steps)).size())
        .set("steps_to_target_over_seeds", all(of_target(&Reached::steps)))
        .set("time_to_target_s_over_seeds", all(of_target(&Reached::time_s)))
        .set("wire_bytes_to_target_over_seeds", all(of_target(&Reached::wire_bytes)))
        .set("speedup_to_target_over_seeds", all(vs_target));
  }
  return row;
}

report::Table to_table(const std::vector<Repeat>& repeats) {
  report::Table table({"mean +- 95 % interval\nover seeds", "test\n" + repeats.front().results.front().metric.name,
                       "step ms", "steps to\ntarget", "seconds to\ntarget", "bytes to\ntarget", "speed-up\nvs fp32",
                       "to target"});
  for (std::size_t i = 0; i < repeats.front().results.size(); ++i) {
    const auto all = [&](const Figure& figure) { return MeanInterval(collect_all(repeats, i, figure)).text(); };
    table.row({repeats.front().results[i].contender.spec.label, all(quality), all(step_ms),
               all(of_target(&Reached::steps)), all(of_target(&Reached::time_s)),
               report::format_bytes(MeanInterval(collect_all(repeats, i, of_target(&Reached::wire_bytes))).mean),
               all(vs_fp32), all(vs_target)});
  }
  return table;
}

}  // namespace gradcomp::train
