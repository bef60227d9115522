#include "gradcomp/train/repeats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "gradcomp/train/mean_interval.hpp"

namespace gradcomp::train {
namespace {

using Figure = std::function<std::optional<double>(const MethodResult&)>;

/// The value of every seed that has one.
std::vector<double> collect(const std::vector<Repeat>& repeats, std::size_t index, const Figure& figure) {
  std::vector<double> values;
  for (const Repeat& repeat : repeats) {
    const auto value = figure(repeat.results[index]);
    if (value) values.push_back(*value);
  }
  return values;
}

/// The mean over all seeds if each has a value, else that of no samples, as Verdict::over_seeds() does.
MeanInterval over_seeds(const std::vector<Repeat>& repeats, std::size_t index, const Figure& figure) {
  const auto values = collect(repeats, index, figure);
  return MeanInterval(values.size() == repeats.size() ? values : std::vector<double>());
}

const Figure quality = [](const MethodResult& r) { return r.test_quality; };
const Figure step_ms = [](const MethodResult& r) { return r.mean_ms(); };
const Figure wire = [](const MethodResult& r) { return r.wire_bytes; };

template <class Member>
Figure of_target(Member member) {
  return [member](const MethodResult& r) {
    return r.reached ? std::optional(static_cast<double>((*r.reached).*member)) : std::nullopt;
  };
}

/// How much worse contender `index` is than fp32 with the same seed (Metric::lack); null without fp32.
report::Json lacks(const std::vector<Repeat>& repeats, std::size_t index) {
  std::vector<double> values;
  for (const Repeat& repeat : repeats) {
    const auto reference = std::find_if(repeat.results.begin(), repeat.results.end(), [](const MethodResult& r) {
      return r.contender.role() == Entrant::Role::fp32;
    });
    if (reference == repeat.results.end()) return nullptr;
    const MethodResult& own = repeat.results[index];
    values.push_back(own.metric.lack(own.test_quality, reference->test_quality));
  }
  return to_json(MeanInterval(values));
}

}  // namespace

report::Json to_json(const MeanInterval& m) {
  if (!std::isfinite(m.mean)) return nullptr;
  report::Json json{{"mean", m.mean}, {"low", nullptr}, {"high", nullptr}};
  if (m.half_width && std::isfinite(*m.half_width)) {
    json["low"] = m.mean - *m.half_width;
    json["high"] = m.mean + *m.half_width;
  }
  return json;
}

std::vector<Entrant> entrants(const std::vector<Repeat>& repeats, index_t link) {
  std::vector<Entrant> all;
  for (std::size_t i = 0; i < repeats.front().results.size(); ++i) {
    Entrant entrant{repeats.front().results[i].contender.role(), {}};
    for (const Repeat& repeat : repeats) entrant.seeds.push_back(outcome_of(repeat.results[i], link));
    all.push_back(std::move(entrant));
  }
  return all;
}

report::Row to_row(const std::vector<Repeat>& repeats, const std::vector<Verdict>& verdicts, std::size_t index,
                   const Options& options, const std::string& data) {
  const MethodResult& first = repeats.front().results[index];
  const MethodSpec& spec = first.contender.spec;
  report::Json seeds = report::Json::array();
  for (const Repeat& repeat : repeats) seeds.push_back(repeat.seed);
  const Verdict& verdict = verdicts[index];
  const auto all = [&](const Figure& figure) { return to_json(over_seeds(repeats, index, figure)); };
  const auto speed = [&](auto which) { return to_json(MeanInterval(verdict.over_seeds(which))); };
  report::Row row("train/" + options.model + "/" + spec.label + "/seeds");
  row.method(spec.text, spec.canonical, spec.label)
      .set("run_type", "aggregate")
      .set("aggregate_name", "mean")
      .set("repetitions", repeats.size())
      .set("iterations", repeats.size())
      .set("real_time", over_seeds(repeats, index, step_ms).mean)
      .set("cpu_time", over_seeds(repeats, index, step_ms).mean)
      .set("time_unit", "ms")
      .set("model", options.model)
      .set("data", data)
      .set("seeds", seeds)
      .set("metric", first.metric.name)
      .set("test_quality_over_seeds", all(quality))
      .set("step_time_ms_over_seeds", all(step_ms))
      .set("wire_bytes_over_seeds", all(wire))
      .set("lack_over_seeds", lacks(repeats, index))
      .set("quality_matched", verdict.quality_matched)
      .set("speedup_vs_fp32_over_seeds", speed(&SpeedUps::vs_fp32))
      .set("speedup_vs_best_dense_over_seeds", speed(&SpeedUps::vs_best_dense));
  if (!options.target.empty()) {
    row.set("seeds_at_target", collect(repeats, index, of_target(&Reached::steps)).size())
        .set("steps_to_target_over_seeds", all(of_target(&Reached::steps)))
        .set("time_to_target_s_over_seeds", all(of_target(&Reached::time_s)))
        .set("wire_bytes_to_target_over_seeds", all(of_target(&Reached::wire_bytes)))
        .set("speedup_to_target_over_seeds", speed(&SpeedUps::to_target));
  }
  return row;
}

report::Table to_table(const std::vector<Repeat>& repeats, const std::vector<Verdict>& verdicts) {
  report::Table table({"mean +- 95 % interval\nover seeds", "test\n" + repeats.front().results.front().metric.name,
                       "step ms", "steps to\ntarget", "seconds to\ntarget", "bytes to\ntarget", "speed-up\nvs fp32",
                       "vs best\ndense", "to target"});
  for (std::size_t i = 0; i < repeats.front().results.size(); ++i) {
    const auto all = [&](const Figure& figure) { return over_seeds(repeats, i, figure).text(); };
    const auto speed = [&](auto which) { return MeanInterval(verdicts[i].over_seeds(which)).text(); };
    const auto diverged = std::count_if(repeats.begin(), repeats.end(),
                                        [i](const Repeat& r) { return r.results[i].diverged_at.has_value(); });
    table.row({repeats.front().results[i].contender.spec.label,
               diverged > 0 ? fmt::format("diverged with {} of {} seeds", diverged, repeats.size()) : all(quality),
               all(step_ms), all(of_target(&Reached::steps)), all(of_target(&Reached::time_s)),
               report::format_bytes(over_seeds(repeats, i, of_target(&Reached::wire_bytes)).mean),
               speed(&SpeedUps::vs_fp32), speed(&SpeedUps::vs_best_dense), speed(&SpeedUps::to_target)});
  }
  return table;
}

}  // namespace gradcomp::train
