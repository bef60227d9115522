#pragma once
// Memories: what must survive a restart. They are found by their role; only this file gives them their names in
// checkpoints.
#include <functional>
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// What a memory holds. Several memories of one role have different names.
enum class Role : std::uint8_t {
  method,              ///< the compressor's own memories
  residual,            ///< of feedback: what was not sent
  residual_rate,       ///< the learning rate for which feedback's memory was gathered
  velocity_sum,        ///< v of momentum correction
  velocity,            ///< u of momentum correction
  ef21_sent,           ///< h of EF21
  ef21_gradient_mean,  ///< the running mean of gradients that h follows
  ef21_estimate,       ///< the mean of the h of all ranks
  owner_residual,      ///< of the owner of a stripe: what its mean lost
  reducer,             ///< the reducer's own memories
  parameters,          ///< of the model
  buffers,             ///< of the model: running statistics, hidden state
  optimiser,           ///< moments of gradients
  strategy,            ///< the strategy's own memories
  sampler,             ///< of the sampler of batches: samples, losses, averages
  counters,            ///< of the trainer
};
const char* to_string(Role role);

/// A memory, in device or host memory.
struct MemoryView {
  std::string name;  ///< empty if the role is enough
  void* data = nullptr;
  index_t bytes = 0;
  bool on_host = false;
  Role role = Role::method;
  int bucket = -1;  ///< index among the model's buckets; -1: a memory of the whole model
  /// Whether the content can be that of a run: what counts or is an index is within its range. None: all bytes are.
  std::function<bool()> valid = {};

  /// The name in checkpoints, such as "bucket2/residual".
  std::string path() const;
  /// The bytes of a memory that is on the device.
  Span<std::byte> on_device() const {
    return Span<std::byte>(static_cast<std::byte*>(data), static_cast<std::size_t>(bytes));
  }
};
using Memories = std::vector<MemoryView>;

/// Whether 0 <= count <= 2^50, so that counts of all ranks can be added.
inline bool is_count(index_t count) { return count >= 0 && count <= index_t{1} << 50; }

/// The first memory with this role and bucket; null if there is none.
const MemoryView* find(const Memories& memories, Role role, int bucket = -1);

/// Copies the bytes of one memory to another that is in the same space and has the same length.
void copy(const Exec& exec, const MemoryView& from, const MemoryView& to);
/// Sets all bytes to 0.
void clear(const Exec& exec, const MemoryView& memory);

/// The bytes of all memories together.
index_t bytes_of(const Memories& memories);

/// A view of the floats of `x`, which stays their owner.
inline MemoryView memory_of(Role role, const Vector<float>& x, std::string name = {}) {
  return {std::move(name), x.data(), static_cast<index_t>(x.size()) * size_of(DType::f32), false, role, -1};
}

}  // namespace gradcomp
