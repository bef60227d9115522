#pragma once
// Host copies of device buffers, for an MPI that cannot read device memory. Inactive, it hands the pointers through.
#include <cstring>

#include "gradcomp/core/types.hpp"

namespace gradcomp::comm {

#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
using StagingSpace = Kokkos::SharedHostPinnedSpace;
#else
using StagingSpace = Kokkos::HostSpace;
#endif

/// Waits for exec's earlier work. Serial and OpenMP launches have ended when they return; their fence is not called,
/// because it takes the instance's lock, for which the communication thread would wait behind the running kernel.
inline void finish_earlier_work(const Exec& exec) {
  if constexpr (!device_is_host) exec.fence("gradcomp::comm::finish_earlier_work");
}

class Staging {
 public:
  /// Grows to the largest call and stays so.
  const void* in(const Exec& exec, const void* device, index_t bytes, bool active) {
    if (!active) return device;
    reserve(m_in, bytes);
    copy_in(exec, m_in, device, bytes);
    return m_in.data();
  }
  void* out(void* device, index_t bytes, bool active) {
    if (!active) return device;
    reserve(m_out, bytes);
    return m_out.data();
  }
  /// Brings what was written to out() to the device.
  void put(const Exec& exec, void* device, index_t bytes, bool active) {
    if (active) copy_out(exec, device, m_out, bytes);
  }

 private:
  using Buffer = Kokkos::View<std::byte*, StagingSpace>;

  static void reserve(Buffer& buffer, index_t bytes) {
    if (static_cast<index_t>(buffer.size()) >= bytes) return;
    buffer = Buffer(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::comm::staging"),
                    static_cast<std::size_t>(bytes));
  }

  static void copy_in(const Exec& exec, const Buffer& host, const void* device, index_t bytes) {
    const auto n = static_cast<std::size_t>(bytes);
    if constexpr (device_is_host) {  // no kernel: the caller may be the communication thread
      std::memcpy(host.data(), device, n);
    } else {
      Kokkos::deep_copy(exec, Kokkos::subview(host, Kokkos::pair<std::size_t, std::size_t>(0, n)),
                        Span<const std::byte>(static_cast<const std::byte*>(device), n));
      exec.fence("gradcomp::comm::staging");
    }
  }
  static void copy_out(const Exec& exec, void* device, const Buffer& host, index_t bytes) {
    const auto n = static_cast<std::size_t>(bytes);
    if constexpr (device_is_host) {
      std::memcpy(device, host.data(), n);
    } else {
      Kokkos::deep_copy(exec, Span<std::byte>(static_cast<std::byte*>(device), n),
                        Kokkos::subview(host, Kokkos::pair<std::size_t, std::size_t>(0, n)));
      exec.fence("gradcomp::comm::staging");
    }
  }

  Buffer m_in, m_out;
};

}  // namespace gradcomp::comm
