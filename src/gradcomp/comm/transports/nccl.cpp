#include "gradcomp/comm/transports/nccl.hpp"

#include <algorithm>

#include "gradcomp/comm/detail/nccl_calls.hpp"
#include "gradcomp/comm/mpi_session.hpp"

namespace gradcomp {
namespace comm {
namespace {

class NcclUnderWay final : public Operation {
 public:
  void reset() { messages.clear(); }
  bool test() override {
    if (!landed(false)) return false;
    for (Completion& message : messages) {
      if (!message.test()) return false;
    }
    take_results();
    return true;
  }
  void wait() override {
    landed(true);
    for (Completion& message : messages) message.wait();
    take_results();
  }
  void order(const Exec& exec) override {
    if (device_is_host) return wait();
    comm->landed(*flight);  // throws if the communicator has failed by now
    flight->end.order(exec);
    for (Completion& message : messages) message.order(exec);
    take_messages();
  }
  bool take_events(Event& from, Event& to) override {
    if (device_is_host || !messages.empty()) return false;
    from = std::move(begin);
    to = std::move(end);
    return true;
  }

  std::shared_ptr<NcclComm> comm;
  std::shared_ptr<Flight> flight;        ///< of the collective calls
  Event begin, end;                      ///< around the collective calls, for take_events()
  std::vector<Completion> messages;      ///< the group of the messages between two ranks, if there are any
  std::vector<std::size_t> their_place;  ///< indices of the messages in `found`

 private:
  bool landed(bool block) {
    if (block) comm->wait(*flight);
    return comm->landed(*flight);
  }
  void take_messages() {
    for (std::size_t i = 0; i < their_place.size(); ++i) found[their_place[i]] = messages.front().found(i);
  }
  void take_results() {
    take_messages();
    times.finished = flight->finished;
    for (const Completion& message : messages) times.finished = std::max(times.finished, message.times().finished);
  }
};

class Nccl final : public Transport {
 public:
  Nccl(MPI_Comm comm, const NcclOptions& options) : m_options(options) {
    m_options.messages.limit_seconds = options.limit_seconds;
    check_mpi(MPI_Comm_dup(comm, &m_host), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(m_host, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    m_messages = make_mpi(comm, m_options.messages);
    m_comm = std::make_shared<NcclComm>(m_host, options.limit_seconds);
    m_calls = std::make_unique<NcclCalls>(*m_comm, m_host, rank(), size(), options.allgatherv);
  }
  ~Nccl() override {
    if (m_comm->alive()) {
      MPI_Comm_free(&m_host);
    } else {
      m_messages->abandon();  // a peer may be gone, and calls may be pending on m_host
    }
  }

  int rank() const override { return m_messages->rank(); }
  int size() const override { return m_messages->size(); }
  int ranks_per_node() const override { return m_messages->ranks_per_node(); }
  std::string name() const override { return fmt::format("nccl(messages={})", m_messages->name()); }
  bool overlaps() const override { return true; }
  bool concurrent() const override { return false; }

  Completion start(const Exec& exec, std::span<const Call> together) override {
    if (std::all_of(together.begin(), together.end(), is_point_to_point)) return m_messages->start(exec, together);
    for (const Call& call : together) check_call(call, size());
    m_comm->handle();  // throws if the communicator was aborted, instead of waiting for sizes of other ranks
    auto calls = m_pool.take(together.size());
    calls->comm = m_comm;
    // the communicator still holds a flight for which nobody waited
    if (!calls->flight || calls->flight.use_count() > 1) calls->flight = std::make_shared<Flight>();
    calls->times.started = Clock::now();
    start_messages(exec, together, *calls);
    m_earlier.record(exec);
    m_earlier.order(m_comm->exec());
    calls->begin.record(m_comm->exec());
    m_calls->carry(together, calls->found);
    m_comm->depart(calls->flight, name_of(*std::find_if_not(together.begin(), together.end(), is_point_to_point)));
    calls->end.record(m_comm->exec());
    return Completion(std::move(calls));
  }

  void limit(double seconds) override {
    m_options.limit_seconds = smaller_limit(m_options.limit_seconds, seconds);
    m_options.messages.limit_seconds = m_options.limit_seconds;
    m_comm->limit(seconds);
    m_messages->limit(seconds);
  }
  void abandon() override {
    m_comm->abandon();
    m_messages->abandon();
  }
  std::unique_ptr<Transport> split(int color, int key) override {
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(m_host, color, key, &part), "MPI_Comm_split");
    auto transport = std::make_unique<Nccl>(part, m_options);
    check_mpi(MPI_Comm_free(&part), "MPI_Comm_free");
    return transport;
  }

 private:
  void start_messages(const Exec& exec, std::span<const Call> together, NcclUnderWay& calls) {
    std::vector<Call> messages;
    calls.their_place.clear();
    for (std::size_t i = 0; i < together.size(); ++i) {
      if (!is_point_to_point(together[i])) continue;
      messages.push_back(together[i]);
      calls.their_place.push_back(i);
    }
    if (!messages.empty()) calls.messages.push_back(m_messages->start(exec, messages));
  }

  NcclOptions m_options;
  MPI_Comm m_host = MPI_COMM_NULL;
  std::unique_ptr<Transport> m_messages;
  std::shared_ptr<NcclComm> m_comm;
  std::unique_ptr<NcclCalls> m_calls;
  Event m_earlier;
  OperationPool<NcclUnderWay> m_pool;
};

NcclOptions options_of(const ParameterValues& options) {
  NcclOptions chosen;
  const std::string &way = options.text("allgatherv"), &aware = options.text("gpu_aware");
  if (way == "padded") chosen.allgatherv = GatherWay::padded;
  if (way == "broadcast") chosen.allgatherv = GatherWay::broadcast;
  if (way == "send_recv") chosen.allgatherv = GatherWay::send_recv;
  if (aware == "on") chosen.messages.gpu_aware = MpiOptions::GpuAware::on;
  if (aware == "off") chosen.messages.gpu_aware = MpiOptions::GpuAware::off;
  chosen.limit_seconds = options.real("limit");
  return chosen;
}

}  // namespace
}  // namespace comm

std::unique_ptr<Transport> make_nccl(MPI_Comm comm, const NcclOptions& options) {
  return std::make_unique<comm::Nccl>(comm, options);
}

TransportEntry transports::nccl() {
  return {"nccl",
          "NCCL or RCCL, one rank per device; messages between two ranks over MPI",
          {Parameter::choice("allgatherv", "auto", {"auto", "padded", "broadcast", "send_recv"},
                             "how blocks of unequal sizes are exchanged; auto: the fastest way, measured at first use"),
           Parameter::choice("gpu_aware", "auto", {"auto", "on", "off"},
                             "whether MPI receives device pointers; auto: if the library says that it supports them"),
           Parameter::real("limit", "0", 0, 1e6, "seconds that a call may take; 0: no limit but that of --timeout")},
          [](const std::any& owned, const ParameterValues& options) {
            const auto* comm = std::any_cast<MPI_Comm>(&owned);
            require(comm != nullptr, "transport nccl: it needs the caller's MPI_Comm");
            return make_nccl(*comm, comm::options_of(options));
          }};
}

}  // namespace gradcomp
