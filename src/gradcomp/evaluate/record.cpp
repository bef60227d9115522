#include "gradcomp/evaluate/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gradcomp/measure/samples.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::evaluate {
namespace {

double mean(const std::vector<double>& values) { return Samples(values).mean(); }
double sum(const std::vector<double>& values) { return Samples(values).sum(); }
double median(const std::vector<double>& values) { return Samples(values).median(); }

/// The columns <name>, _p10 and _p90: the median and the interval of the middle 80 %.
void add_times(report::Row& row, const std::string& name, const std::vector<double>& milliseconds) {
  const Samples samples(milliseconds);
  row.set(name, samples.median()).set(name + "_p10", samples.quantile(0.1)).set(name + "_p90", samples.quantile(0.9));
}

report::Json number(double value) { return std::isfinite(value) ? report::Json(value) : report::Json(nullptr); }

/// Mean of the finite values: a gradient of zeros has no direction.
double finite_mean(const std::vector<double>& values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite), [](double v) { return std::isfinite(v); });
  return mean(finite);
}

/// The columns of methods that keep entries. For other methods the two densities are null.
void add_sparse_columns(report::Row& row, const Measurements& m, double elements) {
  const auto share = [&](const std::vector<double>& entries) {
    return entries.empty() ? report::Json(nullptr) : report::Json(mean(entries) / elements);
  };
  row.set("target_density", share(m.target)).set("achieved_density", share(m.kept));
  if (m.kept.empty()) return;
  const double kept = sum(m.kept);
  row.set("payload_bits_per_kept", number(8 * sum(m.payload_bytes) / kept));
  row.set("entropy_bits_per_kept", number(sum(m.entropy_bits) / kept));
}

void add_trials(report::Row& row, const Trials& trials) {
  if (trials.bias.empty()) return;
  row.set("trials", trials.bias.size())
      .set("bias", mean(trials.bias))
      .set("bias_z", number(bias_z(trials)))
      .set("contraction", mean(trials.contraction));
}

void add_points(report::Row& row, const Measurements& m, const std::vector<index_t>& at) {
  if (at.empty()) return;
  report::Json density = report::Json::array(), error = report::Json::array();
  for (const index_t step : at) {
    const auto s = static_cast<std::size_t>(step);
    density.push_back(number(mean(m.density_ratio.at(s))));
    error.push_back(number(m.l2_error.at(s)));
  }
  row.set("points", report::Json{{"step", at}, {"density_ratio", density}, {"relative_l2_error", error}});
}

std::string cell(const report::Json& row, const char* column, int digits = 3) {
  const auto found = row.find(column);
  return found == row.end() || found->is_null() ? "-" : report::format_number(found->get<double>(), digits);
}

/// "0.347 (0.340-0.361)": the median and the interval of add_times().
std::string cell_with_spread(const report::Json& row, const std::string& name) {
  return fmt::format("{} ({}-{})", cell(row, name.c_str()), cell(row, (name + "_p10").c_str()),
                     cell(row, (name + "_p90").c_str()));
}

}  // namespace

std::vector<double> ratios(const Measurements& m, std::size_t first, std::size_t last) {
  std::vector<double> all;
  for (std::size_t s = first; s < last; ++s)
    all.insert(all.end(), m.density_ratio[s].begin(), m.density_ratio[s].end());
  return all;
}

report::Row to_row(const Case& what, const MethodEvaluation& evaluation) {
  const Measurements& m = evaluation.measurements();
  const double elements = static_cast<double>(what.elements);
  const std::size_t steps = m.payload_bytes.size();
  const double payload = mean(m.payload_bytes);
  report::Row row("evaluate/" + what.stream + "/" + evaluation.spec().label);
  row.method(evaluation.spec().text, evaluation.spec().canonical, evaluation.spec().label)
      .set("stream", what.stream)
      .set("loop", what.loop)
      .set("elements", what.elements)
      .set("steps", steps);
  add_sparse_columns(row, m, elements);
  row.density(ratios(m, 0, steps));
  if (steps > 1) row.density_columns("_late", ratios(m, steps / 2, steps));
  row.set("dense_bytes", 4 * elements)
      .set("payload_bytes", payload)
      .set("header_bytes", mean(m.header_bytes))
      .set("compression_ratio", payload > 0 ? report::Json(4 * elements / payload) : report::Json(nullptr))
      .set("relative_l2_error", number(mean(m.l2_error)))
      .set("cosine", number(finite_mean(m.cosine)))
      .times("time_ms", "times_ms", m.compress_ms);
  add_times(row, "compress_ms", m.compress_ms);
  add_times(row, "decompress_ms", m.decompress_ms);
  row.set("read_limit_ms", median(m.read_ms))
      .set("read_limit_ratio", number(median(m.compress_ms) / median(m.read_ms)))
      .set("verified", m.verified ? report::Json(*m.verified) : report::Json(nullptr));
  row.set("payload_bits_per_element", 8 * payload / elements);
  add_trials(row, m.trials);
  add_points(row, m, what.at);
  return row;
}

report::Table make_table(bool wide) {
  std::vector<std::string> header{"method", "payload", "of target", "error", "compress ms", "x read"};
  if (wide) {
    header.insert(header.end(), {"decompress ms", "target density", "std of target", "rms of target - 1",
                                 "bits per entry", "index entropy"});
  }
  return report::Table(header, wide ? 0 : 80);
}

void add_line(report::Table& table, const report::Row& row, bool wide) {
  const report::Json& json = row.json();
  std::vector<std::string> cells{
      json.at("label").get<std::string>(),   report::format_bytes(json.at("payload_bytes").get<double>()),
      cell(json, "density_ratio_mean"),      cell(json, "relative_l2_error"),
      cell_with_spread(json, "compress_ms"), cell(json, "read_limit_ratio")};
  if (wide) {
    cells.insert(cells.end(), {cell_with_spread(json, "decompress_ms"), cell(json, "target_density"),
                               cell(json, "density_ratio_std", 2), cell(json, "density_ratio_rms", 2),
                               cell(json, "payload_bits_per_kept"), cell(json, "entropy_bits_per_kept")});
  }
  table.row(cells);
}

report::Json methods_json() {
  report::Json list = report::Json::array();
  for (const auto& entry : all_entries()) {
    report::Json parameters = report::Json::array();
    for (const auto& p : entry.info.parameters) {
      parameters.push_back({{"name", p.name},
                            {"default", p.default_value},
                            {"allowed", p.allowed()},
                            {"choices", p.choices},
                            {"help", p.help}});
    }
    const auto state = parse_method(entry.info.name).compressor->prepare(Layout::flat(4096));
    const bool has_target = std::any_of(state->target.begin(), state->target.end(), [](index_t t) { return t > 0; });
    list.push_back({{"name", entry.info.name},
                    {"family", to_string(entry.info.family)},
                    {"summary", entry.info.summary},
                    {"feedback", entry.info.feedback},
                    {"has_target", has_target},
                    {"parameters", parameters}});
  }
  return list;
}

}  // namespace gradcomp::evaluate
