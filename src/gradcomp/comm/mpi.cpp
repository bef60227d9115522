#include "gradcomp/comm/mpi.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "gradcomp/comm/detail/mpi_types.hpp"
#include "gradcomp/comm/detail/staging.hpp"
#include "gradcomp/comm/mpi_calls.hpp"
#include "gradcomp/comm/mpi_half.hpp"

namespace gradcomp {
namespace comm {

class MpiCommunicator final : public Communicator {
 public:
  /// Takes `comm` over.
  MpiCommunicator(MPI_Comm comm, const MpiOptions& options) : m_options(options) {
    m_calls.comm = comm;
    m_calls.limit = options.chunk_limit;
    require(m_calls.limit > 0 && m_calls.limit < (index_t{1} << 31), "mpi: chunk_limit {} is not in [1, 2^31)",
            m_calls.limit);
    check_mpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(comm, &m_calls.rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm, &m_calls.size), "MPI_Comm_size");
    const bool aware = options.gpu_aware == MpiOptions::GpuAware::on ||
                       (options.gpu_aware == MpiOptions::GpuAware::automatic && mpi_is_gpu_aware());
    m_stage = options.always_stage || (!device_is_host && !aware);
  }
  ~MpiCommunicator() override { MPI_Comm_free(&m_calls.comm); }

  int rank() const override { return m_calls.rank; }
  int size() const override { return m_calls.size; }
  std::string name() const override { return m_stage ? "mpi(host-staged)" : "mpi"; }
  bool concurrent() const override {
    if (alone()) return true;  // MPI is not called at all
    int level = MPI_THREAD_SINGLE;
    check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
    return level == MPI_THREAD_MULTIPLE;
  }

  RequestPtr allreduce(const Exec& exec, const void* send, void* receive, index_t count, DType type,
                       ReduceOp op) override {
    const index_t bytes = count * size_of(type);
    if (alone()) return copy(exec, send, receive, bytes);
    const bool stage = m_stage || (is_half(type) && !device_is_host);  // 16-bit terms are combined on the host
    return timed(exec, [&] {
      const void* from = m_staging.in(exec, send, bytes, stage);
      void* to = m_staging.out(receive, bytes, stage);
      if (is_half(type)) {
        m_half.allreduce(m_calls, from, to, count, type, op);
      } else {
        m_calls.allreduce(from, to, count, type, op);
      }
      m_staging.put(exec, receive, bytes, stage);
    });
  }

  RequestPtr allgather(const Exec& exec, const void* send, void* receive, index_t count, DType type) override {
    const index_t bytes = count * size_of(type);
    if (alone()) return copy(exec, send, receive, bytes);
    return staged(exec, send, bytes, receive, bytes * size(),
                  [&](const void* from, void* to) { m_calls.allgather(from, to, count, type); });
  }

  RequestPtr allgatherv(const Exec& exec, const std::byte* send, index_t bytes, std::byte* receive, index_t capacity,
                        GatherSizes& sizes) override {
    const auto begin = Request::Clock::now();
    sizes.size.assign(static_cast<std::size_t>(size()), bytes);
    sizes.offset.assign(static_cast<std::size_t>(size()), 0);
    if (!alone()) m_calls.allgather(&bytes, sizes.size.data(), 1, DType::i64);
    const index_t end = place(sizes);
    require(end <= capacity, "allgatherv: {} bytes from {} ranks do not fit {} bytes", end, size(), capacity);
    RequestPtr request;
    if (alone()) {
      request = copy(exec, send, receive, bytes);
    } else {
      request = staged(exec, send, bytes, receive, end, [&](const void* from, void* to) {
        m_calls.allgatherv(static_cast<const std::byte*>(from), static_cast<std::byte*>(to), sizes.size.data(),
                           sizes.offset.data());
      });
    }
    request->started = begin;
    return request;
  }

  RequestPtr alltoall(const Exec& exec, const void* send, void* receive, index_t count, DType type) override {
    const index_t block = count * size_of(type), bytes = block * size();
    if (alone()) return copy(exec, send, receive, bytes);
    std::vector<index_t> sizes(static_cast<std::size_t>(size()), block), offsets(sizes);
    for (std::size_t r = 0; r < offsets.size(); ++r) offsets[r] = static_cast<index_t>(r) * block;
    return staged(exec, send, bytes, receive, bytes, [&](const void* from, void* to) {
      m_calls.alltoallv(static_cast<const std::byte*>(from), sizes.data(), offsets.data(), static_cast<std::byte*>(to),
                        sizes.data(), offsets.data());
    });
  }

  RequestPtr alltoallv(const Exec& exec, const std::byte* send, const GatherSizes& parts, std::byte* receive,
                       index_t capacity, PartSizes& sizes) override {
    const auto begin = Request::Clock::now();
    const auto ranks = static_cast<std::size_t>(size());
    require(parts.size.size() == ranks && parts.offset.size() == ranks, "alltoallv: {} sizes and {} offsets, {} ranks",
            parts.size.size(), parts.offset.size(), ranks);
    sizes.all.assign(ranks * ranks, parts.size[0]);
    if (!alone()) m_calls.allgather(parts.size.data(), sizes.all.data(), size(), DType::i64);
    GatherSizes& received = sizes.received;
    index_t end = 0;
    for (std::size_t r = 0; r < ranks; ++r) {  // every rank checks all, so that all throw; this one comes last
      const std::size_t receiver = (static_cast<std::size_t>(rank()) + 1 + r) % ranks;
      received.size.assign(ranks, 0);
      received.offset.assign(ranks, 0);
      for (std::size_t s = 0; s < ranks; ++s) received.size[s] = sizes.all[s * ranks + receiver];
      end = place(received);
      require(end <= capacity, "alltoallv: {} bytes for rank {} do not fit {} bytes", end, receiver, capacity);
    }
    index_t send_end = 0;
    for (std::size_t r = 0; r < ranks; ++r) send_end = std::max(send_end, parts.offset[r] + parts.size[r]);
    RequestPtr request;
    if (alone()) {
      request = copy(exec, send + parts.offset[0], receive, end);
    } else {
      request = staged(exec, send, send_end, receive, end, [&](const void* from, void* to) {
        m_calls.alltoallv(static_cast<const std::byte*>(from), parts.size.data(), parts.offset.data(),
                          static_cast<std::byte*>(to), received.size.data(), received.offset.data());
      });
    }
    request->started = begin;
    return request;
  }

  RequestPtr reduce_scatter(const Exec& exec, const void* send, void* receive, index_t count, DType type,
                            ReduceOp op) override {
    const index_t block = count * size_of(type);
    if (alone()) return copy(exec, send, receive, block);
    if (!is_half(type)) {
      return staged(exec, send, block * size(), receive, block,
                    [&](const void* from, void* to) { m_calls.reduce_scatter(from, to, count, type, op); });
    }
    const bool stage = m_stage || !device_is_host;
    return timed(exec, [&] {
      const void* from = m_staging.in(exec, send, block * size(), stage);
      void* to = m_staging.out(receive, block, stage);
      m_half.reduce_block(m_calls, from, to, count * size(), type, op);
      m_staging.put(exec, receive, block, stage);
    });
  }

  RequestPtr broadcast(const Exec& exec, void* data, index_t count, DType type, int root) override {
    const index_t bytes = count * size_of(type);
    if (alone()) return std::make_unique<FinishedRequest>(Request::Clock::now());
    return timed(exec, [&] {
      void* buffer = m_staging.out(data, bytes, m_stage);
      if (m_stage && rank() == root) buffer = const_cast<void*>(m_staging.in(exec, data, bytes, true));
      m_calls.broadcast(buffer, count, type, root);
      if (rank() != root) m_staging.put(exec, data, bytes, m_stage);
    });
  }

  RequestPtr send(const Exec& exec, const void* data, index_t count, DType type, int to, int tag) override {
    check_tag(tag);
    return timed(exec,
                 [&] { m_calls.send(m_staging.in(exec, data, count * size_of(type), m_stage), count, type, to, tag); });
  }

  RequestPtr receive(const Exec& exec, void* data, index_t count, DType type, int from, int tag, int* source) override {
    check_tag(tag);
    return timed(exec, [&] {
      const index_t bytes = count * size_of(type);
      const int sender = m_calls.receive(m_staging.out(data, bytes, m_stage), count, type, from, tag);
      m_staging.put(exec, data, bytes, m_stage);
      if (source != nullptr) *source = sender;
    });
  }

  RequestPtr send_sized(const Exec& exec, const std::byte* data, index_t bytes, int to, int tag) override {
    check_tag(tag);
    return timed(exec, [&] {
      m_calls.send(&bytes, 1, DType::i64, to, tag);
      m_calls.send(m_staging.in(exec, data, bytes, m_stage), bytes, DType::u8, to, tag);
    });
  }

  RequestPtr receive_sized(const Exec& exec, std::byte* data, index_t capacity, int from, int tag,
                           index_t* bytes) override {
    check_tag(tag);
    return timed(exec, [&] {
      m_calls.receive(bytes, 1, DType::i64, from, tag);
      require(*bytes >= 0 && *bytes <= capacity, "receive from rank {}: {} bytes do not fit {} bytes", from, *bytes,
              capacity);
      m_calls.receive(m_staging.out(data, *bytes, m_stage), *bytes, DType::u8, from, tag);
      m_staging.put(exec, data, *bytes, m_stage);
    });
  }

  void barrier() override {
    if (!alone()) check_mpi(MPI_Barrier(m_calls.comm), "MPI_Barrier");
  }

  std::unique_ptr<Communicator> split(int color, int key) override {
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(m_calls.comm, color, key, &part), "MPI_Comm_split");
    return std::make_unique<MpiCommunicator>(part, m_options);
  }

 private:
  bool alone() const { return m_calls.size == 1; }

  /// Fills the offsets for the sizes, aligned; returns the end of the last block.
  static index_t place(GatherSizes& blocks) {
    index_t end = 0;
    for (std::size_t r = 0; r < blocks.size.size(); ++r) {
      blocks.offset[r] = (end + gather_alignment - 1) / gather_alignment * gather_alignment;
      end = blocks.offset[r] + blocks.size[r];
    }
    return end;
  }

  static void check_tag(int tag) {
    require(tag >= 0 && tag <= max_user_tag, "mpi: tag {} is not in [0, {}]", tag, max_user_tag);
  }

  template <class F>
  RequestPtr timed(const Exec& exec, F f) {
    const auto begin = Request::Clock::now();
    finish_earlier_work(exec);
    f();
    return std::make_unique<FinishedRequest>(begin);
  }

  template <class F>
  RequestPtr staged(const Exec& exec, const void* send, index_t send_bytes, void* receive, index_t receive_bytes, F f) {
    return timed(exec, [&] {
      f(m_staging.in(exec, send, send_bytes, m_stage), m_staging.out(receive, receive_bytes, m_stage));
      m_staging.put(exec, receive, receive_bytes, m_stage);
    });
  }

  /// One rank: the result is the input.
  static RequestPtr copy(const Exec& exec, const void* send, void* receive, index_t bytes) {
    const auto begin = Request::Clock::now();
    if (send != receive && bytes > 0) {
      if constexpr (device_is_host) {  // no kernel: this may be the communication thread
        std::memmove(receive, send, static_cast<std::size_t>(bytes));
      } else {
        Kokkos::deep_copy(exec, Span<std::byte>(static_cast<std::byte*>(receive), static_cast<std::size_t>(bytes)),
                          Span<const std::byte>(static_cast<const std::byte*>(send), static_cast<std::size_t>(bytes)));
      }
    }
    return std::make_unique<FinishedRequest>(begin);
  }

  MpiCalls m_calls;
  MpiOptions m_options;
  bool m_stage = false;
  Staging m_staging;
  HalfReduction m_half;
};

}  // namespace comm

std::unique_ptr<Communicator> make_mpi_communicator(const MpiSession&, const MpiOptions& options) {
  MPI_Comm comm = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
  return std::make_unique<comm::MpiCommunicator>(comm, options);
}

}  // namespace gradcomp
