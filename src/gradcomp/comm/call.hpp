#pragma once
// The calls that a transport carries: one small struct per operation. Buffers are in device memory (or in host memory
// if both are the same), remain the caller's, and must live until the call has ended.
#include <array>
#include <variant>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// One block per rank: sizes and offsets in bytes. Offsets of received blocks are multiples of block_alignment, so that
/// the sections of payloads can be read as words.
struct Blocks {
  std::vector<index_t> size, offset;
};
inline constexpr index_t block_alignment = 64;
constexpr index_t aligned(index_t bytes) { return (bytes + block_alignment - 1) / block_alignment * block_alignment; }

/// Whether elements are floats of 16 bits.
constexpr bool is_half(DType type) { return type == DType::f16 || type == DType::bf16; }

/// receive[i] = op over ranks of send[i], with the same bits on every rank; send == receive is allowed.
/// The order of additions is the library's, which may round sums of f16 and bf16 after every term.
struct AllReduce {
  const void* send = nullptr;
  void* receive = nullptr;
  index_t count = 0;
  DType type = DType::f32;
  ReduceOp op = ReduceOp::sum;
};

/// receive = the `count` elements of each rank, in rank order.
struct AllGather {
  const void* send = nullptr;
  void* receive = nullptr;
  index_t count = 0;
  DType type = DType::f32;
};

/// AllGather of blocks of bytes, whose sizes may differ. The sizes are exchanged (and counted) too: Found::blocks. If
/// the aligned blocks need more than `capacity` bytes (equal on all ranks), all ranks throw Error.
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

/// parts->size[r] bytes at send + parts->offset[r] go to rank r. `receive` holds what came, placed as by AllGatherV.
/// All ranks learn all sizes (8 bytes each, counted): Found::blocks and Found::all. If the aligned parts for some rank
/// need more than `capacity` bytes (equal on all ranks), all ranks throw Error. `parts` must live until the call has
/// ended.
struct AllToAllV {
  const std::byte* send = nullptr;
  const Blocks* parts = nullptr;
  std::byte* receive = nullptr;
  index_t capacity = 0;
};

/// `send` holds one block of `count` elements for each rank; receive = op over ranks of the blocks for this rank.
struct ReduceScatter {
  const void* send = nullptr;
  void* receive = nullptr;
  index_t count = 0;
  DType type = DType::f32;
  ReduceOp op = ReduceOp::sum;
};

/// The `count` elements of rank `root` replace those of all other ranks.
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

/// Receives the next message with this tag from rank `from`, or from any rank (any_rank): Found::bytes and
/// Found::source. Throws Error if the message is longer than `capacity` bytes.
struct Receive {
  void* data = nullptr;
  index_t capacity = 0;
  int from = 0, tag = 0;
};
inline constexpr int any_rank = -1;
inline constexpr int max_tag = 32766;  ///< tags of Send and Receive are in [0, max_tag], which every MPI allows

struct Barrier {};

using Call = std::variant<AllReduce, AllGather, AllGatherV, AllToAll, AllToAllV, ReduceScatter, Broadcast, Send,
                          Receive, Barrier>;
inline constexpr std::array<const char*, std::variant_size_v<Call>> operation_names = {
    "allreduce",      "allgather", "allgatherv", "alltoall", "alltoallv",
    "reduce_scatter", "broadcast", "send",       "receive",  "barrier"};
inline const char* name_of(const Call& call) { return operation_names[call.index()]; }

/// Whether the call is a message between two ranks; all other calls are collective.
inline bool is_point_to_point(const Call& call) {
  return std::holds_alternative<Send>(call) || std::holds_alternative<Receive>(call);
}

/// What is known about a call when it has ended.
struct Found {
  Blocks blocks;             ///< AllGatherV, AllToAllV: the received blocks, by sender
  std::vector<index_t> all;  ///< AllToAllV: bytes, [sender * ranks + receiver]
  index_t bytes = 0;         ///< Receive: bytes of the message
  int source = any_rank;     ///< Receive: sender of the message
};

}  // namespace gradcomp
