#pragma once
// Sends parts of any size from every rank to every rank, by sends and receives in one group. Call all functions but
// own_part() inside NcclComm::group().
#include "gradcomp/comm/call.hpp"
#include "gradcomp/comm/detail/nccl_comm.hpp"

namespace gradcomp::comm {

/// Sizes and offsets of parts in bytes, [ranks] each.
struct Parts {
  const index_t* size;
  const index_t* offset;
};
inline Parts parts_of(const Blocks& blocks) { return {blocks.size.data(), blocks.offset.data()}; }

/// Sends part r of `send` to rank r and receives part r of `receive` from rank r, except for this rank's own part (see
/// own_part()). Sender and receiver must agree on the sizes; parts of size 0 are not sent.
void send_and_receive(NcclComm& comm, int rank, int ranks, const std::byte* send, const Parts& out, std::byte* receive,
                      const Parts& in);

/// Copies the part that this rank sends to itself. Call it before the group.
void own_part(NcclComm& comm, int rank, const std::byte* send, const Parts& out, std::byte* receive, const Parts& in);

/// Brings the part `own` of every rank to its place in `data` on all ranks, by one broadcast per part.
void broadcast_parts(NcclComm& comm, int rank, int ranks, const std::byte* own, std::byte* data, const Parts& parts);

}  // namespace gradcomp::comm
