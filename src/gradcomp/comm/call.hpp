#pragma once
// What a transport can be asked to move: one small struct per operation. Buffers are device memory (or host memory,
// where the two are one), stay the caller's, and must live until the call has ended.
#include <array>
#include <variant>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// One part per rank: sizes and offsets in bytes. Offsets of what is received are multiples of block_alignment, so that
/// a payload's sections can be read as words.
struct Blocks {
  std::vector<index_t> size, offset;
};
inline constexpr index_t block_alignment = 64;
constexpr index_t aligned(index_t bytes) { return (bytes + block_alignment - 1) / block_alignment * block_alignment; }

/// receive[i] = op over ranks of send[i], the same bits on every rank; send == receive is allowed. Sums of f16 and bf16
/// are formed as Transport::sum() says: in f32 in rank order and rounded once, or by the library's own rule.
struct AllReduce {
  const void* send = nullptr;
  void* receive = nullptr;
  index_t count = 0;
  DType type = DType::f32;
  ReduceOp op = ReduceOp::sum;
};

/// receive = all ranks' `count` elements in rank order.
struct AllGather {
  const void* send = nullptr;
  void* receive = nullptr;
  index_t count = 0;
  DType type = DType::f32;
};

/// AllGather of bytes with a size of each rank's own, which is exchanged (and counted) too: Found::blocks. Error on all
/// ranks when the aligned blocks exceed `capacity` bytes in sum (capacity is equal on all ranks).
struct AllGatherV {
  const std::byte* send = nullptr;
  index_t bytes = 0;
  std::byte* receive = nullptr;
  index_t capacity = 0;
};

/// Block r of `send` (`count` elements) goes to rank r; receive holds the blocks of all ranks in rank order.
struct AllToAll {
  const void* send = nullptr;
  void* receive = nullptr;
  index_t count = 0;
  DType type = DType::f32;
};

/// parts->size[r] bytes at send + parts->offset[r] go to rank r, and receive holds what came as after an AllGatherV.
/// All ranks learn all sizes (8 bytes each, counted): Found::blocks and all. Error on all ranks when the aligned parts
/// for some rank exceed `capacity` (equal on all ranks). `parts` must live until the call has ended.
struct AllToAllV {
  const std::byte* send = nullptr;
  const Blocks* parts = nullptr;
  std::byte* receive = nullptr;
  index_t capacity = 0;
};

/// `send` holds one block of `count` elements per rank; receive = op over ranks of this rank's block.
struct ReduceScatter {
  const void* send = nullptr;
  void* receive = nullptr;
  index_t count = 0;
  DType type = DType::f32;
  ReduceOp op = ReduceOp::sum;
};

struct Broadcast {
  void* data = nullptr;
  index_t count = 0;
  DType type = DType::f32;
  int root = 0;
};

/// One message to rank `to`. Messages between two ranks with the same tag arrive in order.
struct Send {
  const void* data = nullptr;
  index_t bytes = 0;
  int to = 0, tag = 0;
};

/// The next message from rank `from` (any_rank: from anyone) with this tag: Found::bytes and source. Error when it is
/// longer than `capacity`.
struct Receive {
  void* data = nullptr;
  index_t capacity = 0;
  int from = 0, tag = 0;
};
inline constexpr int any_rank = -1;
inline constexpr int max_tag = 32766;  ///< of Send and Receive; the smallest is 0. Every MPI has these.

struct Barrier {};

using Call = std::variant<AllReduce, AllGather, AllGatherV, AllToAll, AllToAllV, ReduceScatter, Broadcast, Send,
                          Receive, Barrier>;
inline constexpr std::array<const char*, std::variant_size_v<Call>> operation_names = {
    "allreduce",      "allgather", "allgatherv", "alltoall", "alltoallv",
    "reduce_scatter", "broadcast", "send",       "receive",  "barrier"};
inline const char* name_of(const Call& call) { return operation_names[call.index()]; }

/// True of a message between two ranks; all other calls are collective.
inline bool is_point_to_point(const Call& call) {
  return std::holds_alternative<Send>(call) || std::holds_alternative<Receive>(call);
}

/// What is known of a call when it has ended.
struct Found {
  Blocks blocks;             ///< AllGatherV, AllToAllV: what came here, by sender
  std::vector<index_t> all;  ///< AllToAllV: bytes, [sender * ranks + receiver]
  index_t bytes = 0;         ///< Receive: of the message
  int source = any_rank;     ///< Receive: its sender
};

}  // namespace gradcomp
