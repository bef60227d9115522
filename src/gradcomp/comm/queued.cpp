#include "gradcomp/comm/queued.hpp"

#include <functional>
#include <future>
#include <utility>

#include "gradcomp/comm/detail/staging.hpp"
#include "gradcomp/comm/detail/worker.hpp"

namespace gradcomp {
namespace comm {

class QueuedRequest final : public Request {
 public:
  explicit QueuedRequest(std::future<RequestPtr> future) : m_future(std::move(future)) {}
  void wait(const Exec& exec) override {
    if (m_future.valid()) m_inner = m_future.get();
    m_inner->wait(exec);
    started = m_inner->started;
    finished = m_inner->finished;
  }

 private:
  std::future<RequestPtr> m_future;
  RequestPtr m_inner;
};

/// Exec of the communication thread: not the caller's, whose later work the calls need not wait for.
inline Exec own_instance() {
  if constexpr (device_is_host) {
    return Exec();
  } else {
    return Kokkos::Experimental::partition_space(Exec(), 1)[0];
  }
}

class Queued final : public Communicator {
 public:
  explicit Queued(std::unique_ptr<Communicator> inner) : m_inner(std::move(inner)), m_exec(own_instance()) {}

  int rank() const override { return m_inner->rank(); }
  int size() const override { return m_inner->size(); }
  std::string name() const override { return "queued/" + m_inner->name(); }
  bool concurrent() const override { return true; }

  RequestPtr allreduce(const Exec& exec, const void* send, void* receive, index_t count, DType type,
                       ReduceOp op) override {
    return enqueue(exec, [=, this] { return m_inner->allreduce(m_exec, send, receive, count, type, op); });
  }
  RequestPtr allgather(const Exec& exec, const void* send, void* receive, index_t count, DType type) override {
    return enqueue(exec, [=, this] { return m_inner->allgather(m_exec, send, receive, count, type); });
  }
  RequestPtr allgatherv(const Exec& exec, const std::byte* send, index_t bytes, std::byte* receive, index_t capacity,
                        GatherSizes& sizes) override {
    GatherSizes* found = &sizes;
    return enqueue(exec, [=, this] { return m_inner->allgatherv(m_exec, send, bytes, receive, capacity, *found); });
  }
  RequestPtr alltoall(const Exec& exec, const void* send, void* receive, index_t count, DType type) override {
    return enqueue(exec, [=, this] { return m_inner->alltoall(m_exec, send, receive, count, type); });
  }
  RequestPtr alltoallv(const Exec& exec, const std::byte* send, const GatherSizes& parts, std::byte* receive,
                       index_t capacity, PartSizes& sizes) override {
    const GatherSizes* given = &parts;
    PartSizes* found = &sizes;
    return enqueue(exec, [=, this] { return m_inner->alltoallv(m_exec, send, *given, receive, capacity, *found); });
  }
  RequestPtr reduce_scatter(const Exec& exec, const void* send, void* receive, index_t count, DType type,
                            ReduceOp op) override {
    return enqueue(exec, [=, this] { return m_inner->reduce_scatter(m_exec, send, receive, count, type, op); });
  }
  RequestPtr broadcast(const Exec& exec, void* data, index_t count, DType type, int root) override {
    return enqueue(exec, [=, this] { return m_inner->broadcast(m_exec, data, count, type, root); });
  }
  RequestPtr send(const Exec& exec, const void* data, index_t count, DType type, int to, int tag) override {
    return enqueue(exec, [=, this] { return m_inner->send(m_exec, data, count, type, to, tag); });
  }
  RequestPtr receive(const Exec& exec, void* data, index_t count, DType type, int from, int tag, int* source) override {
    return enqueue(exec, [=, this] { return m_inner->receive(m_exec, data, count, type, from, tag, source); });
  }
  RequestPtr send_sized(const Exec& exec, const std::byte* data, index_t bytes, int to, int tag) override {
    return enqueue(exec, [=, this] { return m_inner->send_sized(m_exec, data, bytes, to, tag); });
  }
  RequestPtr receive_sized(const Exec& exec, std::byte* data, index_t capacity, int from, int tag,
                           index_t* bytes) override {
    return enqueue(exec, [=, this] { return m_inner->receive_sized(m_exec, data, capacity, from, tag, bytes); });
  }
  void barrier() override {
    run([this] { m_inner->barrier(); });
  }
  std::unique_ptr<Communicator> split(int color, int key) override {
    std::unique_ptr<Communicator> part;
    run([&] { part = m_inner->split(color, key); });
    return std::make_unique<Queued>(std::move(part));
  }

 private:
  template <class Call>
  RequestPtr enqueue(const Exec& exec, Call call) {
    finish_earlier_work(exec);
    // std::function copies what it holds, which a packaged_task forbids
    const auto task = std::make_shared<std::packaged_task<RequestPtr()>>(std::move(call));
    auto request = std::make_unique<QueuedRequest>(task->get_future());
    m_worker.post([task] { (*task)(); });
    return request;
  }

  /// Runs f behind all queued calls and waits for it.
  void run(const std::function<void()>& f) {
    const auto task = std::make_shared<std::packaged_task<void()>>(f);
    auto future = task->get_future();
    m_worker.post([task] { (*task)(); });
    future.get();
  }

  std::unique_ptr<Communicator> m_inner;
  Exec m_exec;
  Worker m_worker;  // last: it ends before what its tasks use
};

}  // namespace comm

std::unique_ptr<Communicator> make_queued(std::unique_ptr<Communicator> inner) {
  require(
      inner->concurrent(),
      "{}: a communication thread needs MPI_THREAD_MULTIPLE, which this MPI does not give; use schedule=synchronous",
      inner->name());
  return std::make_unique<comm::Queued>(std::move(inner));
}

}  // namespace gradcomp
