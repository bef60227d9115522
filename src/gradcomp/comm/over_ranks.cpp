#include "gradcomp/comm/over_ranks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "gradcomp/core/read_back.hpp"

namespace gradcomp {
namespace {

std::vector<index_t> reduce(Transport& comm, std::vector<index_t> values, ReduceOp op) {
  const Exec exec;
  const Vector<index_t> device("gradcomp::comm::over_ranks", values.size());
  Kokkos::deep_copy(exec, device, HostSpan<index_t>(values.data(), values.size()));
  run(comm, exec, AllReduce{device.data(), device.data(), static_cast<index_t>(values.size()), DType::i64, op});
  read_back(exec, Span<const index_t>(device), values.data(), "gradcomp::comm::over_ranks");
  return values;
}

std::vector<double> reduce_reals(Transport& comm, const std::vector<double>& values, ReduceOp op) {
  std::vector<index_t> bits(values.size());  // doubles >= 0 have the same order as their bits
  std::transform(values.begin(), values.end(), bits.begin(), [](double v) { return std::bit_cast<index_t>(v); });
  bits = reduce(comm, bits, op);
  std::vector<double> extreme(values.size());
  std::transform(bits.begin(), bits.end(), extreme.begin(), [](index_t b) { return std::bit_cast<double>(b); });
  return extreme;
}

}  // namespace

std::vector<double> max_over_ranks(Transport& comm, const std::vector<double>& values) {
  return reduce_reals(comm, values, ReduceOp::max);
}

std::vector<double> min_over_ranks(Transport& comm, const std::vector<double>& values) {
  return reduce_reals(comm, values, ReduceOp::min);
}

std::vector<double> mean_over_ranks(Transport& comm, const std::vector<double>& values) {
  constexpr double millionths = 1e6;  // transports carry integers of 64 bits, but no doubles
  std::vector<index_t> whole(values.size());
  std::transform(values.begin(), values.end(), whole.begin(),
                 [](double v) { return static_cast<index_t>(std::llround(millionths * v)); });
  const std::vector<index_t> sums = sum_over_ranks(comm, whole);
  std::vector<double> means(values.size());
  std::transform(sums.begin(), sums.end(), means.begin(),
                 [&](index_t sum) { return static_cast<double>(sum) / millionths / comm.size(); });
  return means;
}

std::vector<index_t> sum_over_ranks(Transport& comm, const std::vector<index_t>& values) {
  return reduce(comm, values, ReduceOp::sum);
}

bool equal_over_ranks(Transport& comm, std::uint64_t value) {
  const auto bits = static_cast<index_t>(value);
  return reduce(comm, {bits}, ReduceOp::min) == reduce(comm, {bits}, ReduceOp::max);
}

}  // namespace gradcomp
