#include "gradcomp/comm/detail/nccl_exchange.hpp"

#include "gradcomp/comm/detail/copy.hpp"

namespace gradcomp::comm {

void send_and_receive(NcclComm& comm, int rank, int ranks, const std::byte* send, const Parts& out, std::byte* receive,
                      const Parts& in) {
  const auto handle = comm.handle();
  const auto stream = nccl_stream(comm.exec());
  for (int step = 1; step < ranks; ++step) {
    const int to = (rank + step) % ranks, from = (rank + ranks - step) % ranks;
    if (out.size[to] > 0) {
      comm.check(ncclSend(send + out.offset[to], static_cast<std::size_t>(out.size[to]), ncclUint8, to, handle, stream),
                 "ncclSend");
    }
    if (in.size[from] > 0) {
      comm.check(
          ncclRecv(receive + in.offset[from], static_cast<std::size_t>(in.size[from]), ncclUint8, from, handle, stream),
          "ncclRecv");
    }
  }
}

void own_part(NcclComm& comm, int rank, const std::byte* send, const Parts& out, std::byte* receive, const Parts& in) {
  copy(comm.exec(), send + out.offset[rank], receive + in.offset[rank], out.size[rank]);
}

void broadcast_parts(NcclComm& comm, int rank, int ranks, const std::byte* own, std::byte* data, const Parts& parts) {
  const auto handle = comm.handle();
  const auto stream = nccl_stream(comm.exec());
  for (int root = 0; root < ranks; ++root) {
    std::byte* part = data + parts.offset[root];
    if (parts.size[root] == 0) continue;
    comm.check(ncclBroadcast(root == rank ? own : part, part, static_cast<std::size_t>(parts.size[root]), ncclUint8,
                             root, handle, stream),
               "ncclBroadcast");
  }
}

}  // namespace gradcomp::comm
