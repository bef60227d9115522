#pragma once
// What NCCL makes of sends and receives in one group: parts of any size from every rank to every rank. All functions
// but own_part() come inside NcclComm::group().
#include "gradcomp/comm/call.hpp"
#include "gradcomp/comm/detail/nccl_comm.hpp"

namespace gradcomp::comm {

/// Parts in bytes and their places, [ranks] each.
struct Parts {
  const index_t* size;
  const index_t* offset;
};
inline Parts parts_of(const Blocks& blocks) { return {blocks.size.data(), blocks.offset.data()}; }

/// Sends part r of `send` to rank r and receives part r from rank r, but for this rank's own (see own_part()). What one
/// rank sends another expects: sizes of 0 are left out on both sides.
void send_and_receive(NcclComm& comm, int rank, int ranks, const std::byte* send, const Parts& out, std::byte* receive,
                      const Parts& in);

/// Copies this rank's part to itself; before the group.
void own_part(NcclComm& comm, int rank, const std::byte* send, const Parts& out, std::byte* receive, const Parts& in);

/// Every rank has a part of `data`, its own is in place: all get all, by one broadcast per part.
void broadcast_parts(NcclComm& comm, int rank, int ranks, const std::byte* own, std::byte* data, const Parts& parts);

}  // namespace gradcomp::comm
