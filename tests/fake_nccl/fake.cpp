// The functions of nccl.h: communicators, groups, and the queue that carries out the groups of this process.
#include "fake.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>

namespace fake_nccl {
namespace {

constexpr int init_tag = 20000;

std::recursive_mutex mutex;  // guards all variables below that are not thread-local
std::set<ncclComm_t> living;
std::string last_error;
ncclResult_t injected = ncclSuccess;

thread_local int depth = 0;
thread_local std::vector<std::pair<ncclComm_t, Operation>> open;
thread_local ncclResult_t failed_in_group = ncclSuccess;

ncclResult_t fail(ncclResult_t code, const std::string& why) {
  last_error = "fake NCCL: " + why;
  return code;
}

void drop_groups_of(ncclComm_t comm) {
  for (auto& group : queue()) {
    if (group->comm == comm) (void)group.release();  // MPI may still write into its buffers
  }
  std::erase(queue(), nullptr);
}

/// Advances the first group of the queue. Later groups wait for it, as on a stream.
void progress() {
  while (!queue().empty()) {
    Group& group = *queue().front();
    FakeNcclComm& comm = *group.comm;
    if (group.stage == Group::Stage::queued) {
      group.own = signatures_of(group, comm.ranks);
      group.theirs.resize(group.own.size());
      MPI_Ialltoall(group.own.data(), sizeof(Signature), MPI_BYTE, group.theirs.data(), sizeof(Signature), MPI_BYTE,
                    comm.control, &group.compare);
      group.stage = Group::Stage::comparing;
    }
    if (group.stage == Group::Stage::comparing) {
      int ended = 0;
      MPI_Test(&group.compare, &ended, MPI_STATUS_IGNORE);
      if (ended == 0) return;
      const std::string difference = difference_in(group, comm.rank);
      if (!difference.empty()) {
        comm.error = fail(ncclInvalidUsage, difference);
        drop_groups_of(group.comm);
        return;
      }
      begin_moving(group, comm.data);
      group.stage = Group::Stage::moving;
    }
    if (!finish_moving(group, comm.data)) return;
    queue().pop_front();
  }
}

ncclResult_t close_group() {
  auto operations = std::move(open);
  open.clear();
  const ncclResult_t failed = std::exchange(failed_in_group, ncclSuccess);
  if (failed != ncclSuccess) return failed;
  while (!operations.empty()) {  // makes one group per communicator
    auto group = std::make_unique<Group>();
    group->comm = operations.front().first;
    std::string names;
    for (const auto& [comm, operation] : operations) {
      if (comm != group->comm) continue;
      group->operations.push_back(operation);
      const std::string text = text_of(operation);
      names += (names.empty() ? "" : " ") + text.substr(0, text.find('('));
    }
    std::erase_if(operations, [&](const auto& o) { return o.first == group->comm; });
    if (living.count(group->comm) == 0) return fail(ncclInvalidArgument, "a group of a communicator that has ended");
    const std::string overlap = overlap_in(*group, group->comm->rank, group->comm->ranks);
    if (!overlap.empty()) return fail(ncclInvalidUsage, overlap);
    group->number = group->comm->groups++;
    log().push_back(names);
    queue().push_back(std::move(group));
  }
  return ncclSuccess;
}

ncclResult_t call(ncclComm_t comm, const Operation& o) {
  const std::lock_guard lock(mutex);
  const auto refuse = [&](ncclResult_t code, const std::string& why) {
    failed_in_group = depth > 0 ? code : ncclSuccess;
    return fail(code, text_of(o) + ": " + why);
  };
  if (living.count(comm) == 0) return refuse(ncclInvalidArgument, "the communicator has ended, or never began");
  if (comm->error != ncclSuccess) return refuse(ncclInvalidUsage, "the communicator has failed before");
  const bool reads = o.kind != Kind::receive && !(o.kind == Kind::broadcast && o.number != comm->rank);
  if (o.count > 0 && ((reads && o.from == nullptr) || (o.kind != Kind::send && o.to == nullptr))) {
    return refuse(ncclInvalidArgument, "no buffer");
  }
  const bool of_rank = o.kind == Kind::broadcast || !is_collective(o);
  if (of_rank && (o.number < 0 || o.number >= comm->ranks)) return refuse(ncclInvalidArgument, "no such rank");
  if (!of_rank && o.kind != Kind::all_gather && o.number != ncclSum && o.number != ncclMax && o.number != ncclMin) {
    return refuse(ncclInvalidArgument, "an operation that the fake does not have");
  }
  if (o.type == ncclFloat64 || o.type == ncclUint32 || o.type == ncclUint64) {
    return refuse(ncclInvalidArgument, "a type that the fake does not have");
  }
  open.emplace_back(comm, o);
  return depth > 0 ? ncclSuccess : close_group();
}

}  // namespace

std::deque<std::unique_ptr<Group>>& queue() {
  static std::deque<std::unique_ptr<Group>> groups;
  return groups;
}
std::vector<std::string>& log() {
  static std::vector<std::string> groups;
  return groups;
}
void inject(ncclResult_t code) {
  const std::lock_guard lock(mutex);
  injected = code;
}

}  // namespace fake_nccl

using namespace fake_nccl;

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static int made = 0;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int content[] = {rank, made++ % 1000};
  std::memset(id, 0, sizeof *id);
  std::memcpy(id->internal, content, sizeof content);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* made, int ranks, ncclUniqueId id, int rank) {
  int content[2], world = 0;
  std::memcpy(content, id.internal, sizeof content);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  const int root = content[0], tag = init_tag + content[1];
  std::vector<int> members(static_cast<std::size_t>(ranks) + 1, -1);
  members.back() = ranks;
  if (world == root) {
    members.at(static_cast<std::size_t>(rank)) = world;
    for (int i = 1; i < ranks; ++i) {
      int joins[3];
      MPI_Recv(joins, 3, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const bool good = joins[2] == ranks && joins[0] >= 0 && joins[0] < ranks && members[std::size_t(joins[0])] == -1;
      if (!good) members.back() = -1;
      if (joins[0] >= 0 && joins[0] < ranks) members[std::size_t(joins[0])] = joins[1];
    }
    for (int i = 0; i < ranks; ++i) {
      const int member = members[std::size_t(i)];
      if (member >= 0 && member != world)
        MPI_Send(members.data(), ranks + 1, MPI_INT, member, tag + 1000, MPI_COMM_WORLD);
    }
  } else {
    const int joins[] = {rank, world, ranks};
    MPI_Send(joins, 3, MPI_INT, root, tag, MPI_COMM_WORLD);
    MPI_Recv(members.data(), ranks + 1, MPI_INT, root, tag + 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (members.back() != ranks) {
    const std::lock_guard lock(mutex);
    return fail(ncclInvalidArgument, "ranks disagree on who is who");
  }
  MPI_Group all, part;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, ranks, members.data(), &part);
  auto* comm = new FakeNcclComm;
  MPI_Comm_create_group(MPI_COMM_WORLD, part, tag, &comm->data);
  MPI_Comm_dup(comm->data, &comm->control);
  MPI_Group_free(&all);
  MPI_Group_free(&part);
  comm->rank = rank;
  comm->ranks = ranks;
  const std::lock_guard lock(mutex);  // not earlier, because other ranks may wait for groups of this process
  living.insert(comm);
  *made = comm;
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  const std::lock_guard lock(mutex);
  if (living.count(comm) == 0) return fail(ncclInvalidArgument, "ncclCommDestroy of a communicator that has ended");
  if (depth > 0) return fail(ncclInvalidUsage, "ncclCommDestroy inside a group: ncclGroupEnd is missing");
  const auto unfinished = [&](const auto& group) { return group->comm == comm; };
  while (std::any_of(queue().begin(), queue().end(), unfinished)) progress();
  living.erase(comm);
  MPI_Comm_free(&comm->control);
  MPI_Comm_free(&comm->data);
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  const std::lock_guard lock(mutex);
  if (living.erase(comm) == 0) return fail(ncclInvalidArgument, "ncclCommAbort of a communicator that has ended");
  drop_groups_of(comm);  // its MPI communicators stay, because calls on them may be pending
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  const std::lock_guard lock(mutex);
  if (living.count(comm) == 0) return fail(ncclInvalidArgument, "the state of a communicator that has ended");
  if (injected != ncclSuccess)
    comm->error = fail(std::exchange(injected, ncclSuccess), "an error that a test injected");
  if (comm->error == ncclSuccess) progress();
  const bool busy = std::any_of(queue().begin(), queue().end(), [&](const auto& group) { return group->comm == comm; });
  *state = comm->error != ncclSuccess ? comm->error : busy ? ncclInProgress : ncclSuccess;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t code) {
  static constexpr const char* texts[] = {"no error",
                                          "unhandled cuda error",
                                          "unhandled system error",
                                          "internal error",
                                          "invalid argument",
                                          "invalid usage",
                                          "remote process exited or there was a network error",
                                          "in progress"};
  return texts[code];
}
const char* ncclGetLastError(ncclComm_t) { return last_error.c_str(); }

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  const std::lock_guard lock(mutex);
  if (depth == 0) return fail(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  return --depth > 0 ? ncclSuccess : close_group();
}

ncclResult_t ncclAllReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t) {
  return call(comm, {Kind::all_reduce, send, receive, count, type, op});
}
ncclResult_t ncclAllGather(const void* send, void* receive, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t) {
  return call(comm, {Kind::all_gather, send, receive, count, type, 0});
}
ncclResult_t ncclReduceScatter(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t) {
  return call(comm, {Kind::reduce_scatter, send, receive, count, type, op});
}
ncclResult_t ncclBroadcast(const void* send, void* receive, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t) {
  return call(comm, {Kind::broadcast, send, receive, count, type, root});
}
ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t) {
  return call(comm, {Kind::send, send, nullptr, count, type, peer});
}
ncclResult_t ncclRecv(void* receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t) {
  return call(comm, {Kind::receive, nullptr, receive, count, type, peer});
}
}
