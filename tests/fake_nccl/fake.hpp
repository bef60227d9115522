#pragma once
// The internals of the fake NCCL. It checks that
//  - all ranks make the same collective calls in the same order (kind, count, type, operation, root);
//  - every send has a receive with the same number of bytes;
//  - groups are closed;
//  - if a buffer of a group is written, no other buffer of the group overlaps it;
//  - no communicator is used after its end.
// In cases in which NCCL would hang or move wrong bytes, it fails with one line. It is stricter than NCCL in one point:
// all ranks of a communicator must take part in every group. It cannot check the order of streams, which only devices
// have.
//
// Calls are carried out later, step by step, whenever the state of a communicator is queried. Only then are buffers
// read and written.
#include <mpi.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "nccl.h"

namespace fake_nccl {

enum class Kind { all_reduce, all_gather, reduce_scatter, broadcast, send, receive };

struct Operation {
  Kind kind;
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t count = 0;
  ncclDataType_t type = ncclUint8;
  int number = 0;  ///< ncclRedOp_t, root or peer of the operation
};

std::size_t size_of(ncclDataType_t type);
bool is_collective(const Operation& operation);
std::string text_of(const Operation& operation);

/// The bytes of an operation that is under way.
struct Transfer {
  std::vector<char> mine, all;
  MPI_Request request = MPI_REQUEST_NULL;
};

/// What ranks send each other about a group before its bytes travel.
struct Signature {
  std::int64_t group = 0, collectives = 0, sends = 0, receives = 0;
  std::uint64_t collective_hash = 0, send_hash = 0, receive_hash = 0;
  char first[96] = "no collective call";
};

struct Group {
  ncclComm_t comm;
  std::int64_t number = 0;  ///< number of the group in its communicator
  std::vector<Operation> operations;
  std::vector<Signature> own, theirs;  ///< [ranks]
  MPI_Request compare = MPI_REQUEST_NULL;
  std::vector<Transfer> transfers;
  enum class Stage { queued, comparing, moving } stage = Stage::queued;
};

/// The fake of this process.
std::deque<std::unique_ptr<Group>>& queue();
/// The groups of this process so far, such as "ncclSend ncclRecv".
std::vector<std::string>& log();

/// Makes the next ncclCommGetAsyncError of this process return `code`.
void inject(ncclResult_t code);

// rules.cpp
std::string overlap_in(const Group& group, int rank, int ranks);
std::vector<Signature> signatures_of(const Group& group, int ranks);
std::string difference_in(const Group& group, int rank);

// movers.cpp
void begin_moving(Group& group, MPI_Comm comm);
/// Whether all bytes have arrived and are combined.
bool finish_moving(Group& group, MPI_Comm comm);

}  // namespace fake_nccl

struct FakeNcclComm {
  MPI_Comm data = MPI_COMM_NULL, control = MPI_COMM_NULL;
  int rank = 0, ranks = 1;
  std::int64_t groups = 0;
  ncclResult_t error = ncclSuccess;
};
