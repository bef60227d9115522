#include "gradcomp/core/memories.hpp"

#include <array>

namespace gradcomp {

const char* to_string(Role role) {
  static constexpr std::array<const char*, 14> names = {
      "method",         "residual", "velocity_sum", "velocity", "ef21_sent", "ef21_gradient_mean", "ef21_estimate",
      "owner_residual", "reducer",  "parameters",   "buffers",  "optimiser", "strategy",           "counters"};
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

index_t bytes_of(const Memories& memories) {
  index_t sum = 0;
  for (const MemoryView& memory : memories) sum += memory.bytes;
  return sum;
}

}  // namespace gradcomp
