#pragma once
// The way of a batch to the device.
#include <vector>

#include "gradcomp/nn/model.hpp"

namespace gradcomp::nn {

/// Device buffers of one batch; host builds read the loader's arrays in place.
class DeviceBatch {
 public:
  /// `batch` has features, labels, tokens and weights as vectors and `restart`, as data::Batch has them. Valid until
  /// the next call, and while `batch` lives. Allocates where a batch is larger than all before.
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
