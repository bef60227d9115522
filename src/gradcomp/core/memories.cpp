#include "gradcomp/core/memories.hpp"

#include <array>
#include <cstring>

namespace gradcomp {

const char* to_string(Role role) {
  static constexpr std::array<const char*, 16> names = {
      "method",        "residual",       "residual_rate", "velocity_sum", "velocity", "ef21_sent", "ef21_gradient_mean",
      "ef21_estimate", "owner_residual", "reducer",       "parameters",   "buffers",  "optimiser", "strategy",
      "sampler",       "counters"};
  return names[static_cast<std::size_t>(role)];
}

std::string MemoryView::path() const {
  const std::string prefix = bucket < 0 ? "" : "bucket" + std::to_string(bucket) + "/";
  return prefix + (name.empty() ? to_string(role) : name);
}

const MemoryView* find(const Memories& memories, Role role, int bucket) {
  for (const MemoryView& memory : memories) {
    if (memory.role == role && memory.bucket == bucket) return &memory;
  }
  return nullptr;
}

void copy(const Exec& exec, const MemoryView& from, const MemoryView& to) {
  if (to.on_host) {
    std::memcpy(to.data, from.data, static_cast<std::size_t>(to.bytes));
  } else {
    Kokkos::deep_copy(exec, to.on_device(), from.on_device());
  }
}

void clear(const Exec& exec, const MemoryView& memory) {
  if (memory.on_host) {
    std::memset(memory.data, 0, static_cast<std::size_t>(memory.bytes));
  } else {
    Kokkos::deep_copy(exec, memory.on_device(), std::byte{0});
  }
}

index_t bytes_of(const Memories& memories) {
  index_t sum = 0;
  for (const MemoryView& memory : memories) sum += memory.bytes;
  return sum;
}

}  // namespace gradcomp
