#include "gradcomp/comm/detail/nccl_host_gather.hpp"

#include <cstring>
#include <vector>

#include "gradcomp/comm/mpi_session.hpp"

namespace gradcomp::comm {

struct NcclHostGather::Buffers {
  std::vector<std::byte> own, all;
  MPI_Request request = MPI_REQUEST_NULL;
};

NcclHostGather::NcclHostGather(NcclComm& comm, MPI_Comm host, int ranks)
    : m_comm(comm), m_host(host), m_ranks(static_cast<std::size_t>(ranks)) {}

NcclHostGather::~NcclHostGather() = default;

void NcclHostGather::gather(const void* own, std::size_t bytes, void* all, const char* what) {
  if (!m_buffers) m_buffers = std::make_unique<Buffers>();
  Buffers& buffers = *m_buffers;
  buffers.own.resize(bytes);
  buffers.all.resize(bytes * m_ranks);
  std::memcpy(buffers.own.data(), own, bytes);
  const auto n = static_cast<int>(bytes);
  check_mpi(MPI_Iallgather(buffers.own.data(), n, MPI_BYTE, buffers.all.data(), n, MPI_BYTE, m_host, &buffers.request),
            "MPI_Iallgather");
  const auto ended = [&] {
    int flag = 0;
    check_mpi(MPI_Test(&buffers.request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    return flag != 0;
  };
  try {
    m_comm.wait_on_host(ended, what);
  } catch (...) {
    (void)m_buffers.release();  // MPI may still use them
    throw;
  }
  std::memcpy(all, buffers.all.data(), buffers.all.size());
}

}  // namespace gradcomp::comm
