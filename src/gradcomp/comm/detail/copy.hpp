#pragma once
// Copies within one rank, ordered on exec. On hosts they launch no kernel, because the caller may be the communication
// thread.
#include <cstring>

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/core/types.hpp"

namespace gradcomp::comm {

inline void copy(const Exec& exec, const void* from, void* to, index_t bytes) {
  const auto n = static_cast<std::size_t>(bytes);
  if (n == 0 || from == to) return;
  if constexpr (device_is_host) {
    std::memmove(to, from, n);
  } else {
    Kokkos::deep_copy(exec, Span<std::byte>(static_cast<std::byte*>(to), n),
                      Span<const std::byte>(static_cast<const std::byte*>(from), n));
  }
}

/// Copies to the host; the bytes have arrived when this returns.
inline void to_host(const Exec& exec, const void* device, std::byte* host, index_t bytes) {
  const auto n = static_cast<std::size_t>(bytes);
  if (n == 0) return;
  if constexpr (device_is_host) {
    std::memcpy(host, device, n);
  } else {
    read_back(exec, Span<const std::byte>(static_cast<const std::byte*>(device), n), host, "gradcomp::comm::to_host");
  }
}

/// Copies to the device; `host` may be overwritten when this returns.
inline void to_device(const Exec& exec, const std::byte* host, void* device, index_t bytes) {
  const auto n = static_cast<std::size_t>(bytes);
  if (n == 0) return;
  if constexpr (device_is_host) {
    std::memcpy(device, host, n);
  } else {
    Kokkos::deep_copy(exec, Span<std::byte>(static_cast<std::byte*>(device), n), HostSpan<const std::byte>(host, n));
    wait(exec, "gradcomp::comm::to_device");
  }
}

}  // namespace gradcomp::comm
