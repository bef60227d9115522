#include "gradcomp/comm/detail/mpi_calls.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "gradcomp/comm/detail/mpi_types.hpp"
#include "gradcomp/comm/mpi_session.hpp"

namespace gradcomp::comm {
namespace {

constexpr int exchange_tag = 0;  // cannot meet a Send of the caller: those travel on another communicator

const std::byte* at(const void* data, index_t element, DType type) {
  return static_cast<const std::byte*>(data) + element * size_of(type);
}
std::byte* at(void* data, index_t element, DType type) {
  return static_cast<std::byte*>(data) + element * size_of(type);
}

/// f(first, length) for consecutive chunks of at most `limit` elements.
template <class F>
void in_chunks(index_t count, index_t limit, F f) {
  for (index_t first = 0; first < count; first += limit) f(first, static_cast<int>(std::min(limit, count - first)));
}

}  // namespace

void MpiCalls::allreduce(const void* send, void* receive, index_t count, DType type, MPI_Op op) const {
  in_chunks(count, limit, [&](index_t first, int n) {
    const void* from = send == receive ? MPI_IN_PLACE : at(send, first, type);
    check_mpi(MPI_Allreduce(from, at(receive, first, type), n, mpi_type(type), op, comm), "MPI_Allreduce");
  });
}

void MpiCalls::allgather(const void* send, void* receive, index_t count, DType type) const {
  if (count * size <= limit) {
    check_mpi(MPI_Allgather(send, static_cast<int>(count), mpi_type(type), receive, static_cast<int>(count),
                            mpi_type(type), comm),
              "MPI_Allgather");
    return;
  }
  keep_own(send, at(receive, count * rank, type), count * size_of(type));
  for (int root = 0; root < size; ++root) broadcast(at(receive, count * root, type), count, type, root);
}

void MpiCalls::allgatherv(const std::byte* send, std::byte* receive, const index_t* bytes,
                          const index_t* offset) const {
  const bool in_place = send == receive + offset[rank];
  if (offset[size - 1] + bytes[size - 1] <= limit) {
    std::vector<int> counts(bytes, bytes + size), displacements(offset, offset + size);
    check_mpi(MPI_Allgatherv(in_place ? MPI_IN_PLACE : send, counts[static_cast<std::size_t>(rank)], MPI_BYTE, receive,
                             counts.data(), displacements.data(), MPI_BYTE, comm),
              "MPI_Allgatherv");
    return;
  }
  keep_own(send, receive + offset[rank], bytes[rank]);
  for (int root = 0; root < size; ++root) broadcast(receive + offset[root], bytes[root], DType::u8, root);
}

void MpiCalls::alltoallv(const std::byte* send, const index_t* send_bytes, const index_t* send_offset,
                         std::byte* receive, const index_t* receive_bytes, const index_t* receive_offset) const {
  keep_own(send + send_offset[rank], receive + receive_offset[rank], send_bytes[rank]);
  for (int step = 1; step < size; ++step) {
    const int to = (rank + step) % size, from = (rank + size - step) % size;
    // both directions advance chunk by chunk; one that has ended uses MPI_PROC_NULL
    for (index_t first = 0; first < std::max(send_bytes[to], receive_bytes[from]); first += limit) {
      const index_t out = std::clamp<index_t>(send_bytes[to] - first, 0, limit);
      const index_t in = std::clamp<index_t>(receive_bytes[from] - first, 0, limit);
      check_mpi(
          MPI_Sendrecv(send + send_offset[to] + first, static_cast<int>(out), MPI_BYTE, out > 0 ? to : MPI_PROC_NULL,
                       exchange_tag, receive + receive_offset[from] + first, static_cast<int>(in), MPI_BYTE,
                       in > 0 ? from : MPI_PROC_NULL, exchange_tag, comm, MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
    }
  }
}

void MpiCalls::reduce_scatter(const void* send, void* receive, index_t count, DType type, MPI_Op op) const {
  if (count * size <= limit) {
    check_mpi(MPI_Reduce_scatter_block(send, receive, static_cast<int>(count), mpi_type(type), op, comm),
              "MPI_Reduce_scatter_block");
    return;
  }
  for (int root = 0; root < size; ++root) {
    in_chunks(count, limit, [&](index_t first, int n) {
      check_mpi(
          MPI_Reduce(at(send, root * count + first, type), at(receive, first, type), n, mpi_type(type), op, root, comm),
          "MPI_Reduce");
    });
  }
}

void MpiCalls::broadcast(void* data, index_t count, DType type, int root) const {
  in_chunks(count, limit, [&](index_t first, int n) {
    check_mpi(MPI_Bcast(at(data, first, type), n, mpi_type(type), root, comm), "MPI_Bcast");
  });
}

void MpiCalls::keep_own(const void* from, void* to, index_t bytes) const {
  if (from == to || bytes == 0) return;
  if (!on_device) {
    std::memmove(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  in_chunks(bytes, limit, [&](index_t first, int n) {
    check_mpi(MPI_Sendrecv(at(from, first, DType::u8), n, MPI_BYTE, rank, exchange_tag, at(to, first, DType::u8), n,
                           MPI_BYTE, rank, exchange_tag, comm, MPI_STATUS_IGNORE),
              "MPI_Sendrecv");
  });
}

}  // namespace gradcomp::comm
