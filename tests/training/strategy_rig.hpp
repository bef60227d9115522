#pragma once
// A strategy without a model. Gradients are a pure function of rank and step, and one element of a rank can be spoilt.
#include <limits>
#include <map>

#include "distributed/training_steps.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradcomp/strategy/strategy.hpp"
#include "gradcomp/train/snapshot.hpp"

namespace gradcomp::train::test {

using gradcomp::test::gradient_values;
using gradcomp::test::small_model;
using gradcomp::test::to_device;
using gradcomp::test::to_host;
using gradcomp::test::world;

using Bytes = std::map<std::string, std::vector<std::byte>>;

struct Setting {
  std::string method = "fp32", strategy = "overlapped", optimiser = "sgd";
  double limit_seconds = 0;
  double clip = 20, momentum = 0.9, weight_decay = nn::OptimiserOptions().weight_decay;
  bool drains = true;  ///< whether drain() is called after every step
  std::string text() const { return method + ", " + strategy + ", " + optimiser; }
};

class StrategyRig {
 public:
  StrategyRig(const Setting& setting, Transport& comm)
      : m_comm(comm),
        m_drains(setting.drains),
        m_parameters(to_device(gradient_values(m_layout.count(), 0, 99))),
        m_gradient("gradient", m_parameters.size()),
        m_buffers(to_device(gradient_values(5, comm.rank(), 98))) {
    StrategyOptions options;
    options.strategy = setting.strategy;
    options.exchange = gradcomp::test::small_buckets("overlapped");
    options.exchange.limit_seconds = setting.limit_seconds;
    options.update.optimiser.name = setting.optimiser;
    options.update.optimiser.momentum = setting.momentum;
    options.update.optimiser.weight_decay = setting.weight_decay;
    options.update.clip = setting.clip;
    m_strategy = make_strategy(parse_method(setting.method), m_layout, 5, comm, options);
  }

  /// The learning rate, which differs in every step.
  static double rate(index_t number) { return 0.05 / static_cast<double>(1 + number); }

  /// `spoilt`: value of one element of this rank's gradient.
  StepReport step(index_t number, std::optional<float> spoilt = {}) {
    auto values = gradient_values(m_layout.count(), m_comm.rank(), static_cast<int>(number));
    if (spoilt) values[values.size() / 2] = *spoilt;
    return step_on(number, values);
  }
  /// A step without a gradient.
  StepReport rest(index_t number) { return step_on(number, std::vector<float>(m_parameters.size(), 0.0f)); }

  void drain() { m_strategy->drain(m_exec); }
  bool progress() { return m_strategy->progress(m_exec); }
  void observe(double loss) { m_strategy->observe(loss); }
  std::vector<float> agreed() const {
    const Span<const float> all = m_strategy->agreed(m_parameters);
    std::vector<float> values(all.size());
    Kokkos::deep_copy(HostSpan<float>(values.data(), values.size()), all);
    return values;
  }

  void spoil_parameter(float value) { Kokkos::deep_copy(Kokkos::subview(m_parameters, 0), value); }

  bool in_step() const { return m_strategy->in_step(); }
  /// Strategy::diverged().
  index_t diverged() const { return m_strategy->diverged(); }
  std::vector<float> parameters() const { return to_host(m_parameters); }
  std::vector<float> buffers() const { return to_host(m_buffers); }

  /// Parameters and all memories, by their paths.
  Bytes everything() {
    Bytes all;
    for (const MemoryView& view : views()) {
      Snapshot snapshot;
      snapshot.put(m_exec, view.path(), view);
      auto& bytes = all[view.path()];
      bytes.resize(static_cast<std::size_t>(view.bytes));
      snapshot.get(view.path(), std::span<std::byte>(bytes));
    }
    return all;
  }

  void take(const Bytes& all) {
    Snapshot snapshot;
    for (const auto& [path, bytes] : all) snapshot.put(path, std::span<const std::byte>(bytes));
    for (const MemoryView& view : views()) snapshot.get(m_exec, view.path(), view);
  }

 private:
  StepReport step_on(index_t number, const std::vector<float>& values) {
    Kokkos::deep_copy(m_gradient, HostSpan<const float>(values.data(), values.size()));
    const bool trains = in_step() || diverged() < 0;  // as a trainer decides
    m_strategy->begin(m_exec, {number, rate(number), m_gradient, m_parameters, m_buffers, nullptr});
    for (std::size_t s = m_layout.segments.size(); trains && s-- > 0;) m_strategy->gradient_ready(m_exec, s);
    StepReport report = m_strategy->end(m_exec, {});
    if (!m_drains) return report;
    const StepReport late = m_strategy->drain(m_exec);
    report.payload_bytes += late.payload_bytes;
    report.header_bytes += late.header_bytes;
    report.wire_bytes += late.wire_bytes;
    report.density_ratio.insert(report.density_ratio.end(), late.density_ratio.begin(), late.density_ratio.end());
    return report;
  }

  Memories views() {
    Memories all = m_strategy->memories();
    all.push_back(memory_of(Role::parameters, m_parameters));
    all.push_back(memory_of(Role::buffers, m_buffers));
    return all;
  }

  Exec m_exec;
  Layout m_layout = small_model();
  Transport& m_comm;
  bool m_drains;
  Vector<float> m_parameters, m_gradient, m_buffers;
  std::unique_ptr<Strategy> m_strategy;
};

/// Paths whose bytes differ, and paths that are in only one of the two.
inline std::vector<std::string> differences(const Bytes& a, const Bytes& b) {
  std::vector<std::string> paths;
  for (const auto& [path, bytes] : a) {
    if (!b.contains(path) || b.at(path) != bytes) paths.push_back(path);
  }
  for (const auto& entry : b) {
    if (!a.contains(entry.first)) paths.push_back(entry.first);
  }
  return paths;
}

/// Every strategy with a period of at most two.
inline const char* const strategies[] = {
    "overlapped",
    "synchronous",
    "accumulate:every=2",
    "accumulate:every=2:overlap=off",
    "local:period=2:outer_momentum=0.5",
    "local:period=1",
};

/// Whether the method does not take the optimiser's momentum. If so, it needs sgd.
inline bool brings_momentum(const std::string& method) {
  const MethodSpec spec = parse_method(method);
  const Info& info = spec.compressor->info();
  return holds_momentum(spec.common) || info.property == Info::Property::sign || info.rate_inside;
}

}  // namespace gradcomp::train::test
