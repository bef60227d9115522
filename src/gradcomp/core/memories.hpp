#pragma once
// Memories: what must survive a restart. They are found by their role; only this file gives them their names in
// checkpoints.
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// What a memory is of.
enum class Role : std::uint8_t {
  method,              ///< the compressor's own, told apart by its name
  residual,            ///< of the feedback: what was not sent
  residual_rate,       ///< the learning rate that the feedback's memory belongs to
  velocity_sum,        ///< v of momentum correction
  velocity,            ///< u of momentum correction
  ef21_sent,           ///< h
  ef21_gradient_mean,  ///< the running mean of gradients that h follows
  ef21_estimate,       ///< the mean of all ranks' h
  owner_residual,      ///< of the owner of a stripe: what its mean lost
  reducer,             ///< the reducer's own, told apart by its name
  parameters,          ///< of the model
  buffers,             ///< of the model: running statistics, hidden state
  optimiser,           ///< moments of gradients, told apart by their name
  strategy,            ///< the strategy's own, told apart by its name
  sampler,             ///< of the sampler of batches: samples, losses, averages, told apart by their name
  counters,            ///< numbers of a trainer
};
const char* to_string(Role role);

/// A memory, in device or host memory.
struct MemoryView {
  std::string name;  ///< empty where the role says it all
  void* data = nullptr;
  index_t bytes = 0;
  bool on_host = false;
  Role role = Role::method;
  int bucket = -1;  ///< of the model's buckets; -1: of the whole model

  /// In checkpoints: "bucket2/residual".
  std::string path() const;
  /// The bytes, of a memory on the device.
  Span<std::byte> on_device() const {
    return Span<std::byte>(static_cast<std::byte*>(data), static_cast<std::size_t>(bytes));
  }
};
using Memories = std::vector<MemoryView>;

/// The first of that role and bucket; null where there is none.
const MemoryView* find(const Memories& memories, Role role, int bucket = -1);

/// The bytes of one memory to another of the same place and length.
void copy(const Exec& exec, const MemoryView& from, const MemoryView& to);
/// All bytes 0.
void clear(const Exec& exec, const MemoryView& memory);

/// Bytes of all.
index_t bytes_of(const Memories& memories);

/// A view of device floats, which `x` owns.
inline MemoryView memory_of(Role role, const Vector<float>& x, std::string name = {}) {
  return {std::move(name), x.data(), static_cast<index_t>(x.size()) * size_of(DType::f32), false, role, -1};
}

}  // namespace gradcomp
