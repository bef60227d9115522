#include "gradcomp/train/evaluation.hpp"

#include <algorithm>
#include <cmath>

#include "gradcomp/comm/over_ranks.hpp"
#include "gradcomp/data/transform.hpp"

namespace gradcomp::train {
namespace {

template <class T>
Span<const T> on_device(const Exec& exec, std::span<const T> host, const Vector<T>& buffer) {
  if constexpr (device_is_host) return Span<const T>(host.data(), host.size());
  const Span<T> device(buffer.data(), host.size());
  Kokkos::deep_copy(exec, device, HostSpan<const T>(host.data(), host.size()));
  return device;
}

}  // namespace

DeviceBatch::DeviceBatch(const data::ImageSet& set, index_t batch) {
  if constexpr (!device_is_host) {
    m_images = Vector<float>("gradcomp::train::images", static_cast<std::size_t>(batch * set.image_size()));
    m_labels = Vector<std::int32_t>("gradcomp::train::labels", static_cast<std::size_t>(batch));
  }
}

nn::Batch<float> DeviceBatch::upload(const Exec& exec, std::span<const float> images,
                                     std::span<const std::int32_t> labels) {
  return {on_device(exec, images, m_images), on_device(exec, labels, m_labels)};
}

nn::Loss sum_over_ranks(Communicator& comm, const nn::Loss& loss) {
  const double micro = std::isfinite(loss.sum) ? 1e6 * loss.sum : 0;
  const auto sums = gradcomp::sum_over_ranks(comm, {std::llround(micro), loss.correct, loss.count});
  return {std::isfinite(loss.sum) ? 1e-6 * static_cast<double>(sums[0]) : loss.sum, sums[1], sums[2]};
}

nn::Loss evaluate_test_set(const Exec& exec, const Job& job, DeviceBatch& buffers, const Span<const float>& parameters,
                           const Span<float>& state) {
  const data::ImageSet& test = job.data.test;
  const data::Transform transform(job.data);
  std::vector<index_t> indices;
  std::vector<float> images;
  std::vector<std::int32_t> labels;
  nn::Loss sum;
  for (index_t i = job.control.rank(); i < test.count();) {
    indices.clear();
    for (; i < test.count() && static_cast<index_t>(indices.size()) < job.options.batch; i += job.control.size()) {
      indices.push_back(i);
    }
    images.resize(indices.size() * static_cast<std::size_t>(test.image_size()));
    labels.resize(indices.size());
    transform.fill(test, indices, 0, images, labels);
    sum += job.model.evaluate(exec, parameters, state, buffers.upload(exec, images, labels));
  }
  return sum_over_ranks(job.control, sum);
}

std::uint64_t content_hash(const Vector<float>& x) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  std::uint64_t hash = 14695981039346656037u;
  for (std::size_t i = 0; i < host.size(); ++i) {
    hash = (hash ^ Kokkos::bit_cast<std::uint32_t>(host(i))) * 1099511628211u;
  }
  return hash;
}

}  // namespace gradcomp::train
