#pragma once
// The samples of one measured quantity, and their order statistics. Results keep the samples too.
#include <string>
#include <vector>

#include "gradcomp/comm/transport.hpp"
#include "gradcomp/core/types.hpp"

namespace gradcomp {

class Samples {
 public:
  Samples() = default;
  explicit Samples(std::vector<double> values) : m_values(std::move(values)) {}

  void add(double value) { m_values.push_back(value); }
  void reserve(index_t count) { m_values.reserve(static_cast<std::size_t>(count)); }
  void clear() { m_values.clear(); }

  index_t count() const { return static_cast<index_t>(m_values.size()); }
  const std::vector<double>& values() const { return m_values; }

  /// The quantile q in [0, 1], by linear interpolation between order statistics at position q (count - 1), like NumPy's
  /// default. All statistics but sum() are NaN (null in result files) without samples.
  double quantile(double q) const;
  double median() const { return quantile(0.5); }
  double p5() const { return quantile(0.05); }
  double p95() const { return quantile(0.95); }
  double minimum() const { return quantile(0.0); }
  double maximum() const { return quantile(1.0); }
  double mean() const;
  double sum() const;

 private:
  std::vector<double> m_values;
};

/// Collective. For each sample, the maximum over the ranks of `comm`, which results report. Values are in seconds, and
/// are rounded to nanoseconds, because transports carry no doubles. If the numbers of samples differ, all ranks throw
/// Error. Call it outside of timed code.
Samples max_over_ranks(const Exec& exec, Transport& comm, const Samples& seconds);

}  // namespace gradcomp
