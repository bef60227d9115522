#include "gradcomp/comm/detail/nccl_bootstrap.hpp"

#include <unistd.h>

#include <array>
#include <cstring>
#include <map>

#include "gradcomp/comm/mpi_session.hpp"

namespace gradcomp::comm {
namespace {

struct Place {
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  std::array<char, 64> device{};
};

int size_of(MPI_Comm comm) {
  int size = 1;
  check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

}  // namespace

std::string own_device() {
#ifdef GRADCOMP_DEVICE_RUNTIME
  std::array<char, 64> text{};
  check_device(device::bus_id(text.data(), static_cast<int>(text.size()), device::device_of(Exec())),
               "find the bus address of the device");
  return text.data();
#else
  return fmt::format("process {}", getpid());
#endif
}

void require_own_devices(MPI_Comm comm, const std::string& device) {
  Place own;
  int length = 0;
  check_mpi(MPI_Get_processor_name(own.host.data(), &length), "MPI_Get_processor_name");
  device.copy(own.device.data(), own.device.size() - 1);
  std::vector<Place> all(static_cast<std::size_t>(size_of(comm)));
  check_mpi(MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, comm), "MPI_Allgather");
  std::map<std::pair<std::string, std::string>, std::size_t> users;
  for (std::size_t r = 0; r < all.size(); ++r) {
    const std::string host = all[r].host.data(), name = all[r].device.data();
    const auto [first, is_new] = users.emplace(std::pair(host, name), r);
    if (is_new) continue;
    throw AgreedError(fmt::format(
        "transport nccl: ranks {} and {} share device {} of host {}, and NCCL takes one rank per device: start as many "
        "ranks per host as it has devices, or use --transport mpi",
        first->second, r, name, host));
  }
}

ncclComm_t make_nccl_comm(MPI_Comm comm) {
  struct {
    ncclUniqueId id;
    ncclResult_t code;
    std::array<char, 512> text;
  } offer{};
  const int rank = rank_in(comm);
  if (rank == 0) {
    offer.code = ncclGetUniqueId(&offer.id);
    if (offer.code != ncclSuccess) nccl_text(offer.code, nullptr).copy(offer.text.data(), offer.text.size() - 1);
  }
  check_mpi(MPI_Bcast(&offer, sizeof offer, MPI_BYTE, 0, comm), "MPI_Bcast");
  if (offer.code != ncclSuccess) throw AgreedError(fmt::format("ncclGetUniqueId: {}", offer.text.data()));
  ncclComm_t made = nullptr;
  check_nccl(ncclCommInitRank(&made, size_of(comm), offer.id, rank), "ncclCommInitRank");
  return made;
}

}  // namespace gradcomp::comm
