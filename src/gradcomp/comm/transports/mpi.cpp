#include "gradcomp/comm/transports/mpi.hpp"

#include <algorithm>

#include "gradcomp/comm/detail/copy.hpp"
#include "gradcomp/comm/detail/mpi_calls.hpp"
#include "gradcomp/comm/detail/mpi_nodes.hpp"
#include "gradcomp/comm/detail/mpi_ops.hpp"
#include "gradcomp/comm/detail/place.hpp"
#include "gradcomp/comm/detail/point_to_point.hpp"
#include "gradcomp/comm/detail/staging.hpp"
#include "gradcomp/comm/mpi_session.hpp"
#include "gradcomp/comm/transports/self.hpp"
#include "gradcomp/core/event.hpp"

namespace gradcomp {
namespace comm {
namespace {

/// Messages between two ranks, through host buffers if MPI cannot read the device. Collective calls have ended already.
class MpiCallsUnderWay final : public Operation {
 public:
  struct Leg {
    PointToPoint::MessagePtr message;
    std::size_t place = 0;   ///< index in `found`
    void* device = nullptr;  ///< where a staged receive goes
  };
  void reset() {
    legs.clear();
    exec = Exec();  // the pool keeps this object, perhaps for longer than the caller keeps its stream
  }
  bool test() override {
    for (Leg& leg : legs) {
      if (!engine->test(*leg.message)) return false;
    }
    land();
    return true;
  }
  void wait() override {
    for (Leg& leg : legs) engine->wait(*leg.message);
    land();
  }

  PointToPoint* engine = nullptr;
  Exec exec;
  std::vector<Leg> legs;

 private:
  void land() {
    if (legs.empty()) return;
    for (Leg& leg : legs) {
      times.finished = std::max(times.finished, leg.message->finished);
      if (leg.message->is_send) continue;
      found[leg.place].bytes = leg.message->moved;
      found[leg.place].source = leg.message->peer;
      if (leg.device != nullptr) to_device(exec, leg.message->host.data(), leg.device, leg.message->moved);
    }
    reset();
  }
};

class Mpi final : public Transport {
 public:
  /// Duplicates `comm`.
  Mpi(MPI_Comm comm, const MpiOptions& options)
      : m_options(options), m_engine(comm, options.chunk_limit, options.limit_seconds), m_alone(make_self()) {
    require(options.chunk_limit > 0 && options.chunk_limit < (index_t{1} << 31),
            "mpi: chunk_limit {} is not in [1, 2^31)", options.chunk_limit);
    m_calls.limit = options.chunk_limit;
    check_mpi(MPI_Comm_dup(comm, &m_calls.comm), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(m_calls.comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(comm, &m_calls.rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm, &m_calls.size), "MPI_Comm_size");
    const int emulated = options.ranks_per_node;
    m_per_node = emulated > 0 && m_calls.size % emulated == 0 ? emulated : find_ranks_per_node(m_calls.comm);
    const bool aware = options.gpu_aware == MpiOptions::GpuAware::on ||
                       (options.gpu_aware == MpiOptions::GpuAware::automatic && mpi_is_gpu_aware());
    m_stage = options.always_stage || (!device_is_host && !aware);
    m_calls.on_device = !m_stage && (!device_is_host || options.gpu_aware == MpiOptions::GpuAware::on);
  }
  ~Mpi() override {
    if (!m_engine.abandoned()) MPI_Comm_free(&m_calls.comm);  // MPI may wait for a peer that is gone
  }

  int rank() const override { return m_calls.rank; }
  int size() const override { return m_calls.size; }
  int ranks_per_node() const override { return m_per_node; }
  std::string name() const override { return m_stage ? "mpi(host-staged)" : "mpi"; }
  bool overlaps() const override { return false; }
  bool concurrent() const override {
    if (size() == 1) return true;  // no call reaches MPI
    int level = MPI_THREAD_SINGLE;
    check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
    return level == MPI_THREAD_MULTIPLE;
  }

  Completion start(const Exec& exec, std::span<const Call> together) override {
    if (size() == 1) return m_alone->start(exec, together);
    auto under_way = m_pool.take(together.size());
    under_way->engine = &m_engine;
    under_way->times.started = Clock::now();
    Event earlier;
    earlier.record(exec);
    earlier.wait();
    for (const Call& call : together) check_call(call, size());
    for (std::size_t i = 0; i < together.size(); ++i) {
      if (!is_point_to_point(together[i])) continue;
      under_way->exec = exec;
      under_way->legs.push_back(post(exec, together[i], i));
    }
    for (std::size_t i = 0; i < together.size(); ++i) {
      if (!is_point_to_point(together[i])) carry(exec, together[i], under_way->found[i]);
    }
    under_way->times.finished = Clock::now();
    return Completion(std::move(under_way));
  }

  /// For messages only: collective calls block inside MPI.
  void limit(double seconds) override {
    m_options.limit_seconds = smaller_limit(m_options.limit_seconds, seconds);
    m_engine.limit_wait(seconds);
  }
  void abandon() override { m_engine.abandon(); }
  std::unique_ptr<Transport> split(int color, int key) override {
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(m_calls.comm, color, key, &part), "MPI_Comm_split");
    auto transport = std::make_unique<Mpi>(part, m_options);
    check_mpi(MPI_Comm_free(&part), "MPI_Comm_free");
    return transport;
  }

 private:
  MpiCallsUnderWay::Leg post(const Exec& exec, const Call& call, std::size_t place) {
    MpiCallsUnderWay::Leg leg{m_engine.take(), place, nullptr};
    StagingBuffer& host = leg.message->host;
    if (const auto* send = std::get_if<Send>(&call)) {
      if (m_stage) to_host(exec, send->data, host.reserve(send->bytes), send->bytes);
      m_engine.send(leg.message, m_stage ? host.data() : send->data, send->bytes, send->to, send->tag);
    } else {
      const auto& receive = std::get<Receive>(call);
      if (m_stage) leg.device = receive.data;
      m_engine.receive(leg.message, m_stage ? host.reserve(receive.capacity) : receive.data, receive.capacity,
                       receive.from, receive.tag);
    }
    return leg;
  }

  /// Carries a collective call to its end.
  void carry(const Exec& exec, const Call& call, Found& found) {
    std::visit([&](const auto& c) { carry_one(exec, c, found); }, call);
  }
  void carry_one(const Exec& exec, const AllReduce& c, Found&) {
    const index_t bytes = c.count * size_of(c.type);
    staged(exec, stages_sums(c.type), c.send, bytes, c.receive, bytes,
           [&](const void* from, void* to) { m_calls.allreduce(from, to, c.count, c.type, m_ops.of(c.type, c.op)); });
  }
  void carry_one(const Exec& exec, const AllGather& c, Found&) {
    const index_t bytes = c.count * size_of(c.type);
    staged(exec, m_stage, c.send, bytes, c.receive, bytes * size(),
           [&](const void* from, void* to) { m_calls.allgather(from, to, c.count, c.type); });
  }
  void carry_one(const Exec& exec, const AllGatherV& c, Found& found) {
    Blocks& blocks = found.blocks;
    blocks.size.resize(static_cast<std::size_t>(size()));
    m_calls.allgather(&c.bytes, blocks.size.data(), 1, DType::i64);
    const index_t end = place_gathered(blocks, c.capacity);
    staged(exec, m_stage, c.send, c.bytes, c.receive, end, [&](const void* from, void* to) {
      m_calls.allgatherv(static_cast<const std::byte*>(from), static_cast<std::byte*>(to), blocks.size.data(),
                         blocks.offset.data());
    });
  }
  void carry_one(const Exec& exec, const AllToAll& c, Found&) {
    const index_t block = c.count * size_of(c.type), bytes = block * size();
    std::vector<index_t> sizes(static_cast<std::size_t>(size()), block), offsets(sizes);
    for (std::size_t r = 0; r < offsets.size(); ++r) offsets[r] = static_cast<index_t>(r) * block;
    staged(exec, m_stage, c.send, bytes, c.receive, bytes, [&](const void* from, void* to) {
      m_calls.alltoallv(static_cast<const std::byte*>(from), sizes.data(), offsets.data(), static_cast<std::byte*>(to),
                        sizes.data(), offsets.data());
    });
  }
  void carry_one(const Exec& exec, const AllToAllV& c, Found& found);
  void carry_one(const Exec& exec, const ReduceScatter& c, Found&) {
    const index_t block = c.count * size_of(c.type);
    staged(exec, stages_sums(c.type), c.send, block * size(), c.receive, block, [&](const void* from, void* to) {
      m_calls.reduce_scatter(from, to, c.count, c.type, m_ops.of(c.type, c.op));
    });
  }
  void carry_one(const Exec& exec, const Broadcast& c, Found&) {
    const index_t bytes = c.count * size_of(c.type);
    void* buffer = m_staging.out(c.data, bytes, m_stage);
    if (m_stage && rank() == c.root) buffer = const_cast<void*>(m_staging.in(exec, c.data, bytes, true));
    m_calls.broadcast(buffer, c.count, c.type, c.root);
    if (rank() != c.root) m_staging.put(exec, c.data, bytes, m_stage);
  }
  void carry_one(const Exec&, const Barrier&, Found&) { check_mpi(MPI_Barrier(m_calls.comm), "MPI_Barrier"); }
  void carry_one(const Exec&, const Send&, Found&) {}
  void carry_one(const Exec&, const Receive&, Found&) {}

  /// 16-bit floats are combined on the host.
  bool stages_sums(DType type) const { return m_stage || (is_half(type) && !device_is_host); }

  template <class F>
  void staged(const Exec& exec, bool stage, const void* send, index_t send_bytes, void* receive, index_t receive_bytes,
              F f) {
    f(m_staging.in(exec, send, send_bytes, stage), m_staging.out(receive, receive_bytes, stage));
    m_staging.put(exec, receive, receive_bytes, stage);
  }

  MpiOptions m_options;
  MpiCalls m_calls;
  PointToPoint m_engine;
  bool m_stage = false;
  int m_per_node = 0;
  Staging m_staging;
  MpiOps m_ops;
  std::unique_ptr<Transport> m_alone;
  OperationPool<MpiCallsUnderWay> m_pool;
};

void Mpi::carry_one(const Exec& exec, const AllToAllV& c, Found& found) {
  const auto ranks = static_cast<std::size_t>(size());
  found.all.resize(ranks * ranks);
  m_calls.allgather(c.parts->size.data(), found.all.data(), size(), DType::i64);
  place_received(found, rank(), size(), c.capacity);
  const Blocks& received = found.blocks;
  const index_t end = received.offset.back() + received.size.back();
  index_t send_end = 0;
  for (std::size_t r = 0; r < ranks; ++r) send_end = std::max(send_end, c.parts->offset[r] + c.parts->size[r]);
  staged(exec, m_stage, c.send, send_end, c.receive, end, [&](const void* from, void* to) {
    m_calls.alltoallv(static_cast<const std::byte*>(from), c.parts->size.data(), c.parts->offset.data(),
                      static_cast<std::byte*>(to), received.size.data(), received.offset.data());
  });
}

}  // namespace
}  // namespace comm

std::unique_ptr<Transport> make_mpi(MPI_Comm comm, const MpiOptions& options) {
  return std::make_unique<comm::Mpi>(comm, options);
}

TransportEntry transports::mpi() {
  return {"mpi",
          "an MPI communicator",
          {Parameter::choice("gpu_aware", "auto", {"auto", "on", "off"},
                             "whether MPI receives device pointers; auto: if the library says that it supports them"),
           Parameter::real("limit", "0", 0, 1e6, "seconds to wait for a message; 0: no limit"),
           Parameter::integer("ranks_per_node", "0", 0, 1 << 20,
                              "number of consecutive ranks that form an emulated node; 0: the nodes of the machine")},
          [](const std::any& owned, const ParameterValues& options) {
            const auto* comm = std::any_cast<MPI_Comm>(&owned);
            require(comm != nullptr, "transport mpi: it needs the caller's MPI_Comm");
            MpiOptions chosen;
            const std::string& aware = options.text("gpu_aware");
            if (aware == "on") chosen.gpu_aware = MpiOptions::GpuAware::on;
            if (aware == "off") chosen.gpu_aware = MpiOptions::GpuAware::off;
            chosen.limit_seconds = options.real("limit");
            chosen.ranks_per_node = static_cast<int>(options.integer("ranks_per_node"));
            int ranks = 0;
            check_mpi(MPI_Comm_size(*comm, &ranks), "MPI_Comm_size");
            if (chosen.ranks_per_node > 0 && ranks % chosen.ranks_per_node != 0) {  // equal on all ranks
              throw AgreedError(fmt::format("transport mpi: {} ranks are no whole number of nodes with {} each", ranks,
                                            chosen.ranks_per_node));
            }
            return make_mpi(*comm, chosen);
          }};
}

}  // namespace gradcomp
