#pragma once
// The inside of the fake NCCL. What it checks: that all ranks make the same collective calls in the same order (kind,
// count, type, operation, root) with a receive for every send and the same number of bytes; that groups are closed;
// that buffers of one group do not overlap where one of them is written; that nobody uses a communicator after its end.
// Where NCCL would hang or move wrong bytes, this fails with a line. It is stricter than NCCL in one point: all ranks
// of a communicator take part in every group. It cannot check what only a device has: the order of streams.
//
// Calls are carried out later, bit by bit, whenever the state of any communicator is asked for; buffers are read and
// written only then.
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
  int number = 0;  ///< the operation's ncclRedOp_t, its root or its peer
};

std::size_t size_of(ncclDataType_t type);
bool is_collective(const Operation& operation);
std::string text_of(const Operation& operation);

/// Bytes of an operation under way.
struct Transfer {
  std::vector<char> mine, all;
  MPI_Request request = MPI_REQUEST_NULL;
};

/// What ranks tell each other about a group before its bytes travel.
struct Signature {
  std::int64_t group = 0, collectives = 0, sends = 0, receives = 0;
  std::uint64_t collective_hash = 0, send_hash = 0, receive_hash = 0;
  char first[96] = "no collective call";
};

struct Group {
  ncclComm_t comm;
  std::int64_t number = 0;  ///< of this communicator
  std::vector<Operation> operations;
  std::vector<Signature> own, theirs;  ///< [ranks]
  MPI_Request compare = MPI_REQUEST_NULL;
  std::vector<Transfer> transfers;
  enum class Stage { queued, comparing, moving } stage = Stage::queued;
};

/// Of this process.
std::deque<std::unique_ptr<Group>>& queue();
/// Groups of this process so far, as "ncclSend ncclRecv".
std::vector<std::string>& log();

/// The next ncclCommGetAsyncError of this process returns `code`.
void inject(ncclResult_t code);

// rules.cpp
std::string overlap_in(const Group& group, int rank, int ranks);
std::vector<Signature> signatures_of(const Group& group, int ranks);
std::string difference_in(const Group& group, int rank);

// movers.cpp
void begin_moving(Group& group, MPI_Comm comm);
/// True once all bytes have arrived and been combined.
bool finish_moving(Group& group, MPI_Comm comm);

}  // namespace fake_nccl

struct FakeNcclComm {
  MPI_Comm data = MPI_COMM_NULL, control = MPI_COMM_NULL;
  int rank = 0, ranks = 1;
  std::int64_t groups = 0;
  ncclResult_t error = ncclSuccess;
};
