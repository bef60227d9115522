#include "cub_selection.hpp"

#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>
#include <cub/version.cuh>
#include <string>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/read_back.hpp"

namespace gradcomp::bench {
namespace {

struct AtLeast {
  const float* gradient;
  float threshold;
  KOKKOS_FUNCTION bool operator()(int i) const { return Kokkos::abs(gradient[i]) >= threshold; }
};

void check(cudaError_t status, const char* call) {
  require(status == cudaSuccess, "{}: {}", call, cudaGetErrorString(status));
}

template <class T>
Vector<T> make(const char* label, std::size_t count) {
  return Vector<T>(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), count);
}

cudaError_t select(void* scratch, std::size_t& bytes, const Exec& exec, const Span<const float>& gradient,
                   float threshold, const Vector<int>& indices, const Vector<int>& count) {
  return cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<int>(0), indices.data(), count.data(),
                               static_cast<int>(gradient.size()), AtLeast{gradient.data(), threshold},
                               exec.cuda_stream());
}

cudaError_t sort(void* scratch, std::size_t& bytes, const Exec& exec, const Vector<float>& keys,
                 const Vector<float>& sorted, const Vector<int>& indices, const Vector<int>& order) {
  return cub::DeviceRadixSort::SortPairsDescending(scratch, bytes, keys.data(), sorted.data(), indices.data(),
                                                   order.data(), static_cast<int>(keys.size()), 0, 32,
                                                   exec.cuda_stream());
}

void gather_first(const Exec& exec, const Span<const float>& gradient, const Vector<int>& indices,
                  const Vector<int>& count, const Vector<float>& values) {
  Kokkos::parallel_for(
      "gradcomp::bench::gather_first", IndexRange(exec, 0, static_cast<index_t>(values.size())),
      KOKKOS_LAMBDA(const index_t i) {
        if (i < count(0)) values(i) = gradient(indices(i));
      });
}

void gather(const Exec& exec, const Span<const float>& gradient, const Vector<int>& order,
            const Vector<float>& values) {
  Kokkos::parallel_for(
      "gradcomp::bench::gather", IndexRange(exec, 0, static_cast<index_t>(values.size())),
      KOKKOS_LAMBDA(const index_t i) { values(i) = gradient(order(i)); });
}

void magnitudes(const Exec& exec, const Span<const float>& gradient, const Vector<float>& keys,
                const Vector<int>& indices) {
  Kokkos::parallel_for(
      "gradcomp::bench::magnitudes", IndexRange(exec, 0, static_cast<index_t>(keys.size())),
      KOKKOS_LAMBDA(const index_t i) {
        keys(i) = Kokkos::abs(gradient(i));
        indices(i) = static_cast<int>(i);
      });
}

std::vector<int> to_host(const Exec& exec, const Vector<int>& device, std::size_t count) {
  std::vector<int> host(count);
  read_back(exec, subspan(Span<const int>(device), 0, static_cast<index_t>(count)), host.data(),
            "gradcomp::bench::to_host");
  return host;
}

}  // namespace

int cub_version() { return CUB_VERSION; }

CubThreshold::CubThreshold(const Exec& exec, const Span<const float>& gradient, float threshold, index_t capacity)
    : m_exec(exec),
      m_gradient(gradient),
      m_threshold(threshold),
      m_indices(make<int>("gradcomp::bench::indices", gradient.size())),
      m_count(make<int>("gradcomp::bench::count", 1)),
      m_values(make<float>("gradcomp::bench::values", static_cast<std::size_t>(capacity))) {
  std::size_t bytes = 0;
  check(select(nullptr, bytes, exec, gradient, threshold, m_indices, m_count), "cub::DeviceSelect::If");
  m_scratch = make<unsigned char>("gradcomp::bench::scratch", bytes);
}

void CubThreshold::run() {
  std::size_t bytes = m_scratch.size();
  check(select(m_scratch.data(), bytes, m_exec, m_gradient, m_threshold, m_indices, m_count), "cub::DeviceSelect::If");
  gather_first(m_exec, m_gradient, m_indices, m_count, m_values);
}

std::vector<int> CubThreshold::kept() const {
  const auto count = static_cast<std::size_t>(to_host(m_exec, m_count, 1)[0]);
  require(count <= m_values.size(), "{} entries reach the threshold; allowed: at most {}", count, m_values.size());
  return to_host(m_exec, m_indices, count);
}

CubTopK::CubTopK(const Exec& exec, const Span<const float>& gradient, index_t count)
    : m_exec(exec),
      m_gradient(gradient),
      m_keys(make<float>("gradcomp::bench::keys", gradient.size())),
      m_sorted(make<float>("gradcomp::bench::sorted", gradient.size())),
      m_values(make<float>("gradcomp::bench::values", static_cast<std::size_t>(count))),
      m_indices(make<int>("gradcomp::bench::indices", gradient.size())),
      m_order(make<int>("gradcomp::bench::order", gradient.size())) {
  std::size_t bytes = 0;
  check(sort(nullptr, bytes, exec, m_keys, m_sorted, m_indices, m_order), "cub::DeviceRadixSort");
  m_scratch = make<unsigned char>("gradcomp::bench::scratch", bytes);
}

void CubTopK::run() {
  magnitudes(m_exec, m_gradient, m_keys, m_indices);
  std::size_t bytes = m_scratch.size();
  check(sort(m_scratch.data(), bytes, m_exec, m_keys, m_sorted, m_indices, m_order), "cub::DeviceRadixSort");
  gather(m_exec, m_gradient, m_order, m_values);
}

std::vector<int> CubTopK::kept() const { return to_host(m_exec, m_order, m_values.size()); }

}  // namespace gradcomp::bench
