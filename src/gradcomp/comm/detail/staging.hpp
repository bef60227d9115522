#pragma once
// Host copies of device buffers, for an MPI library that cannot read device memory. With active = false, the device
// pointers are returned instead.
#include "gradcomp/comm/detail/copy.hpp"

namespace gradcomp::comm {

#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
using StagingSpace = Kokkos::SharedHostPinnedSpace;
#else
using StagingSpace = Kokkos::HostSpace;
#endif

/// A host buffer that grows with the largest use, by half more than it, and never shrinks: sizes of messages vary a
/// little from step to step.
class StagingBuffer {
 public:
  std::byte* reserve(index_t bytes) {
    if (static_cast<index_t>(m_buffer.size()) < bytes) {
      m_buffer = Kokkos::View<std::byte*, StagingSpace>(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::comm::staging"),
          static_cast<std::size_t>(bytes + bytes / 2));
    }
    return m_buffer.data();
  }
  std::byte* data() const { return m_buffer.data(); }

 private:
  Kokkos::View<std::byte*, StagingSpace> m_buffer;
};

class Staging {
 public:
  /// A host copy of `bytes` bytes at `device`.
  const void* in(const Exec& exec, const void* device, index_t bytes, bool active) {
    if (!active) return device;
    to_host(exec, device, m_in.reserve(bytes), bytes);
    return m_in.data();
  }
  /// A host buffer for `bytes` bytes that will go to `device`.
  void* out(void* device, index_t bytes, bool active) { return active ? m_out.reserve(bytes) : device; }
  /// Copies what was written to out() to the device.
  void put(const Exec& exec, void* device, index_t bytes, bool active) {
    if (active) to_device(exec, m_out.data(), device, bytes);
  }

 private:
  StagingBuffer m_in, m_out;
};

}  // namespace gradcomp::comm
