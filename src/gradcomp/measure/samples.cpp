#include "gradcomp/measure/samples.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "gradcomp/core/error.hpp"

namespace gradcomp {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// Replaces every element by its maximum over the ranks.
void maximum_over_ranks(const Exec& exec, Transport& comm, std::vector<std::int64_t>& values) {
  const HostSpan<std::int64_t> host(values.data(), values.size());
  const Vector<std::int64_t> device(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "max_over_ranks"),
                                    values.size());
  Kokkos::deep_copy(exec, device, host);
  run(comm, exec,
      AllReduce{device.data(), device.data(), static_cast<index_t>(values.size()), DType::i64, ReduceOp::max});
  Kokkos::deep_copy(exec, host, device);
  exec.fence("gradcomp::measure::max_over_ranks");
}

}  // namespace

double Samples::quantile(double q) const {
  if (m_values.empty()) return nothing;
  auto sorted = m_values;
  std::sort(sorted.begin(), sorted.end());
  const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double Samples::sum() const { return std::accumulate(m_values.begin(), m_values.end(), 0.0); }

double Samples::mean() const { return m_values.empty() ? nothing : sum() / static_cast<double>(m_values.size()); }

Samples max_over_ranks(const Exec& exec, Transport& comm, const Samples& seconds) {
  const std::int64_t count = seconds.count();
  std::vector<std::int64_t> extremes = {count, -count};  // one reduction gives the maximum and the minimum
  maximum_over_ranks(exec, comm, extremes);
  require(extremes[0] == -extremes[1], "ranks hold {} to {} samples of one measurement; allowed: equal numbers",
          -extremes[1], extremes[0]);
  std::vector<std::int64_t> nanoseconds;
  for (const double s : seconds.values()) nanoseconds.push_back(std::llround(s * 1e9));
  if (count > 0) maximum_over_ranks(exec, comm, nanoseconds);
  Samples result;
  for (const auto ns : nanoseconds) result.add(static_cast<double>(ns) * 1e-9);
  return result;
}

}  // namespace gradcomp
