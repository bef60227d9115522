#pragma once
// The contract of a communicator: what carries bytes between ranks. Back end: mpi (mpi.hpp). Wrappers: counting,
// throttled (an emulated link), queued (a communication thread).
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// An operation under way.
class Request {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~Request() = default;
  /// Orders all later work of exec behind the operation's end (a host wait for MPI). Throws what the operation threw.
  virtual void wait(const Exec& exec) = 0;

  /// When the operation ran, on the thread that ran it; known after wait().
  Clock::time_point started, finished;
};
using RequestPtr = std::unique_ptr<Request>;

/// Sizes and offsets in bytes, per rank, that an allgatherv found; filled when its request has been waited for.
/// Offsets are multiples of gather_alignment, so that a payload's sections can be read as words.
struct GatherSizes {
  std::vector<index_t> size, offset;
};
inline constexpr index_t gather_alignment = 64;

/// What an alltoallv moved, in bytes; filled when its request has been waited for.
struct PartSizes {
  std::vector<index_t> all;  ///< [sender * ranks + receiver]
  GatherSizes received;      ///< the parts that came here, by sender
};

/// All calls but send and receive (and those of any size) are collective. They begin after exec's earlier work, take
/// 64-bit counts, and return a request (never null). Buffers are device memory, stay the caller's and must live until
/// wait(). Failure of a peer or of the library ends the job: Error on the rank that sees it, then MPI_Abort in main.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string name() const = 0;  ///< "mpi", "emulated(100Mbit/s,50us)/mpi"
  /// True when other threads may communicate (on communicators of their own) while a call is under way.
  virtual bool concurrent() const = 0;

  /// receive[i] = op over ranks of send[i], the same bits on every rank; send == receive is allowed. Sums of f16 and
  /// bf16 are formed in f32 in rank order and rounded once (all-to-all, sum, allgather).
  virtual RequestPtr allreduce(const Exec& exec, const void* send, void* receive, index_t count, DType type,
                               ReduceOp op) = 0;
  /// receive = all ranks' `count` elements in rank order.
  virtual RequestPtr allgather(const Exec& exec, const void* send, void* receive, index_t count, DType type) = 0;
  /// Like allgather of bytes with a size of each rank's own, which is exchanged (and counted) too. Throws Error on all
  /// ranks when the aligned sizes exceed `capacity` bytes in sum (capacity is equal on all ranks).
  virtual RequestPtr allgatherv(const Exec& exec, const std::byte* send, index_t bytes, std::byte* receive,
                                index_t capacity, GatherSizes& sizes) = 0;
  /// Block b of send (count elements) goes to rank b; receive holds the blocks of all ranks in rank order.
  virtual RequestPtr alltoall(const Exec& exec, const void* send, void* receive, index_t count, DType type) = 0;
  /// Like alltoall of bytes with sizes of their own: parts.size[r] bytes at send + parts.offset[r] go to rank r, and
  /// receive holds what came from all ranks as after an allgatherv. All ranks learn all sizes (8 bytes each, counted).
  /// Throws Error on all ranks when the aligned parts for some rank exceed `capacity` bytes in sum (capacity is equal
  /// on all ranks). `parts` must live until wait().
  virtual RequestPtr alltoallv(const Exec& exec, const std::byte* send, const GatherSizes& parts, std::byte* receive,
                               index_t capacity, PartSizes& sizes) = 0;
  /// send holds one block of `count` elements per rank; receive = op over ranks of this rank's block.
  virtual RequestPtr reduce_scatter(const Exec& exec, const void* send, void* receive, index_t count, DType type,
                                    ReduceOp op) = 0;
  virtual RequestPtr broadcast(const Exec& exec, void* data, index_t count, DType type, int root) = 0;
  virtual RequestPtr send(const Exec& exec, const void* data, index_t count, DType type, int to, int tag) = 0;
  /// from < 0: any source. *source, when given, is the sender once waited for.
  virtual RequestPtr receive(const Exec& exec, void* data, index_t count, DType type, int from, int tag,
                             int* source = nullptr) = 0;
  /// Like send of bytes to a receive_sized(), which need not know how many: 8 more bytes say so, and are counted.
  virtual RequestPtr send_sized(const Exec& exec, const std::byte* data, index_t bytes, int to, int tag) = 0;
  /// *bytes, once waited for, is the size of what came from rank `from`. Throws Error when that exceeds `capacity`.
  virtual RequestPtr receive_sized(const Exec& exec, std::byte* data, index_t capacity, int from, int tag,
                                   index_t* bytes) = 0;
  virtual void barrier() = 0;
  /// Ranks of equal color form a communicator, ordered by key. split(0, rank()) is a duplicate.
  virtual std::unique_ptr<Communicator> split(int color, int key) = 0;
};

/// The request of a call that has already ended.
class FinishedRequest final : public Request {
 public:
  explicit FinishedRequest(Clock::time_point begin) {
    started = begin;
    finished = Clock::now();
  }
  void wait(const Exec&) override {}
};

}  // namespace gradcomp
