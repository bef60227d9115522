#pragma once
// Copies batches to the device.
#include <vector>

#include "gradcomp/nn/model.hpp"

namespace gradcomp::nn {

/// Device buffers of one batch. Builds for hosts read the loader's arrays in place.
class DeviceBatch {
 public:
  /// `batch` has the members features, labels, tokens, weights and restart of data::Batch. The result is valid until
  /// the next call, and as long as `batch` exists. Allocates only if a batch is larger than all earlier ones.
  template <class HostBatch>
  Batch<float> upload(const Exec& exec, const HostBatch& batch) {
    return {on_device(exec, batch.features, m_features),
            on_device(exec, batch.labels, m_labels),
            on_device(exec, batch.tokens, m_tokens),
            batch.restart,
            0,
            on_device(exec, batch.weights, m_weights)};
  }

 private:
  template <class T>
  static Span<const T> on_device(const Exec& exec, const std::vector<T>& host, Vector<T>& buffer) {
    if constexpr (device_is_host) return Span<const T>(host.data(), host.size());
    if (buffer.size() < host.size()) buffer = Vector<T>("gradcomp::nn::batch", host.size());
    const Span<T> device(buffer.data(), host.size());
    Kokkos::deep_copy(exec, device, HostSpan<const T>(host.data(), host.size()));
    return device;
  }

  Vector<float> m_features, m_weights;
  Vector<std::int32_t> m_labels, m_tokens;
};

}  // namespace gradcomp::nn
