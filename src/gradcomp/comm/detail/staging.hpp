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

class Staging {
 public:
  /// A host copy of `bytes` bytes at `device`. The buffers grow to the largest call and never shrink.
  const void* in(const Exec& exec, const void* device, index_t bytes, bool active) {
    if (!active) return device;
    reserve(m_in, bytes);
    to_host(exec, device, m_in.data(), bytes);
    return m_in.data();
  }
  /// A host buffer for `bytes` bytes that will go to `device`.
  void* out(void* device, index_t bytes, bool active) {
    if (!active) return device;
    reserve(m_out, bytes);
    return m_out.data();
  }
  /// Copies what was written to out() to the device.
  void put(const Exec& exec, void* device, index_t bytes, bool active) {
    if (active) to_device(exec, m_out.data(), device, bytes);
  }

 private:
  using Buffer = Kokkos::View<std::byte*, StagingSpace>;

  static void reserve(Buffer& buffer, index_t bytes) {
    if (static_cast<index_t>(buffer.size()) >= bytes) return;
    buffer = Buffer(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::comm::staging"),
                    static_cast<std::size_t>(bytes));
  }

  Buffer m_in, m_out;
};

}  // namespace gradcomp::comm
