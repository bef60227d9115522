#include "gradcomp/train/evaluation.hpp"

#include <cmath>
#include <limits>

#include "gradcomp/comm/over_ranks.hpp"

namespace gradcomp::train {

nn::Loss sum_over_ranks(Transport& comm, const nn::Loss& loss) {
  const bool finite = std::abs(loss.sum) < 1e12;  // a larger sum does not fit, and then the training has diverged
  const index_t micro = finite ? std::llround(1e6 * loss.sum) : 0;
  const auto sums = gradcomp::sum_over_ranks(comm, {micro, loss.correct, loss.count, finite ? 0 : 1});
  const double sum = 1e-6 * static_cast<double>(sums[0]);
  return {sums[3] == 0 ? sum : std::numeric_limits<double>::quiet_NaN(), sums[1], sums[2]};
}

nn::Loss evaluate_held_out(const Exec& exec, const Job& job, data::Split split, nn::DeviceBatch& device,
                           const Span<const float>& parameters, const Span<float>& buffers) {
  data::Batch batch;
  nn::Loss sum;
  for (index_t number = 0; job.trains() && job.task.held_out(split, job.shard(), number, batch); ++number) {
    sum += job.model.evaluate(exec, parameters, buffers, device.upload(exec, batch));
  }
  return sum_over_ranks(job.control, sum);
}

std::uint64_t content_hash(const Span<const float>& x) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  std::uint64_t hash = 14695981039346656037u;
  for (std::size_t i = 0; i < host.size(); ++i) {
    hash = (hash ^ Kokkos::bit_cast<std::uint32_t>(host(i))) * 1099511628211u;
  }
  return hash;
}

}  // namespace gradcomp::train
