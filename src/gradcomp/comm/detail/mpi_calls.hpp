#pragma once
// Blocking collective MPI calls with 64-bit counts: longer calls are cut into chunks of at most `limit` elements, so
// that MPI's int counts suffice. MPI must be able to read the buffers. Every return code is checked.
#include <mpi.h>

#include "gradcomp/core/types.hpp"

namespace gradcomp::comm {

struct MpiCalls {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  index_t limit = index_t{1} << 30;  ///< elements per MPI call; tests lower it
  bool on_device = false;            ///< the data of calls may be in device memory, which the host must not touch

  void allreduce(const void* send, void* receive, index_t count, DType type, MPI_Op op) const;
  /// `receive` gets `size` blocks of `count` elements.
  void allgather(const void* send, void* receive, index_t count, DType type) const;
  /// Block r (bytes[r] long) arrives at receive + offset[r]; `send` is this rank's block, which may be there already.
  void allgatherv(const std::byte* send, std::byte* receive, const index_t* bytes, const index_t* offset) const;
  /// Pairwise exchange: the part of `send` at send_offset[r] goes to rank r. Sizes and offsets are in bytes.
  void alltoallv(const std::byte* send, const index_t* send_bytes, const index_t* send_offset, std::byte* receive,
                 const index_t* receive_bytes, const index_t* receive_offset) const;
  void reduce_scatter(const void* send, void* receive, index_t count, DType type, MPI_Op op) const;
  void broadcast(void* data, index_t count, DType type, int root) const;

 private:
  /// Copies the part of a call that stays on this rank. Only hosts accept parts that overlap without being equal.
  void keep_own(const void* from, void* to, index_t bytes) const;
};

}  // namespace gradcomp::comm
