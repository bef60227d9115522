#include "gradcomp/comm/throttled.hpp"

#include <thread>
#include <utility>

#include "gradcomp/comm/volume.hpp"

namespace gradcomp {
namespace comm {

/// Calls block until the emulated link would have carried them: run it on a communication thread to overlap.
class Throttled final : public Communicator {
 public:
  Throttled(std::unique_ptr<Communicator> inner, const Link& link) : m_inner(std::move(inner)), m_link(link) {}

  int rank() const override { return m_inner->rank(); }
  int size() const override { return m_inner->size(); }
  std::string name() const override { return "emulated(" + m_link.text() + ")/" + m_inner->name(); }
  bool concurrent() const override { return m_inner->concurrent(); }

  RequestPtr allreduce(const Exec& exec, const void* send, void* receive, index_t count, DType type,
                       ReduceOp op) override {
    return collective(
        exec, [&] { return m_inner->allreduce(exec, send, receive, count, type, op); },
        [&] { return allreduce_volume(size(), rank(), count, size_of(type)); });
  }
  RequestPtr allgather(const Exec& exec, const void* send, void* receive, index_t count, DType type) override {
    return collective(
        exec, [&] { return m_inner->allgather(exec, send, receive, count, type); },
        [&] { return allgather_volume(size(), count * size_of(type)); });
  }
  RequestPtr allgatherv(const Exec& exec, const std::byte* send, index_t bytes, std::byte* receive, index_t capacity,
                        GatherSizes& sizes) override {
    return collective(
        exec, [&] { return m_inner->allgatherv(exec, send, bytes, receive, capacity, sizes); },
        [&] { return allgatherv_volume(rank(), sizes.size); });  // sizes are known by now: the call has ended
  }
  RequestPtr alltoall(const Exec& exec, const void* send, void* receive, index_t count, DType type) override {
    return collective(
        exec, [&] { return m_inner->alltoall(exec, send, receive, count, type); },
        [&] { return alltoall_volume(size(), count * size_of(type)); });
  }
  RequestPtr alltoallv(const Exec& exec, const std::byte* send, const GatherSizes& parts, std::byte* receive,
                       index_t capacity, PartSizes& sizes) override {
    return collective(
        exec, [&] { return m_inner->alltoallv(exec, send, parts, receive, capacity, sizes); },
        [&] { return alltoallv_volume(size(), rank(), sizes.all); });
  }
  RequestPtr reduce_scatter(const Exec& exec, const void* send, void* receive, index_t count, DType type,
                            ReduceOp op) override {
    return collective(
        exec, [&] { return m_inner->reduce_scatter(exec, send, receive, count, type, op); },
        [&] { return reduce_scatter_volume(size(), count * size_of(type)); });
  }
  RequestPtr broadcast(const Exec& exec, void* data, index_t count, DType type, int root) override {
    return collective(
        exec, [&] { return m_inner->broadcast(exec, data, count, type, root); },
        [&] { return broadcast_volume(size(), rank(), root, count * size_of(type)); });
  }

  RequestPtr send(const Exec& exec, const void* data, index_t count, DType type, int to, int tag) override {
    return after(count * size_of(type), 1, [&] { return m_inner->send(exec, data, count, type, to, tag); });
  }
  RequestPtr receive(const Exec& exec, void* data, index_t count, DType type, int from, int tag, int* source) override {
    return m_inner->receive(exec, data, count, type, from, tag, source);
  }
  RequestPtr send_sized(const Exec& exec, const std::byte* data, index_t bytes, int to, int tag) override {
    return after(bytes + size_of(DType::i64), 2, [&] { return m_inner->send_sized(exec, data, bytes, to, tag); });
  }
  RequestPtr receive_sized(const Exec& exec, std::byte* data, index_t capacity, int from, int tag,
                           index_t* bytes) override {
    return m_inner->receive_sized(exec, data, capacity, from, tag, bytes);
  }
  void barrier() override {
    m_inner->barrier();
    sleep_from(Request::Clock::now(), m_link.seconds(0, barrier_volume(size()).steps));
  }
  std::unique_ptr<Communicator> split(int color, int key) override {
    return std::make_unique<Throttled>(m_inner->split(color, key), m_link);
  }

 private:
  static void sleep_from(Request::Clock::time_point begin, double seconds) {
    std::this_thread::sleep_until(
        begin + std::chrono::duration_cast<Request::Clock::duration>(std::chrono::duration<double>(seconds)));
  }

  /// A send: the link first, so that the receiver waits too.
  template <class Call>
  RequestPtr after(index_t bytes, int steps, Call call) {
    const auto begin = Request::Clock::now();
    sleep_from(begin, m_link.seconds(bytes, steps));
    RequestPtr request = call();
    request->started = begin;
    return request;
  }

  template <class Call, class Charge>
  RequestPtr collective(const Exec& exec, Call call, Charge charge) {
    const auto arrived = Request::Clock::now();
    m_inner->barrier();
    const auto begin = Request::Clock::now();
    call()->wait(exec);
    const Volume volume = charge();
    sleep_from(begin, m_link.seconds(volume.busiest, volume.steps));
    return std::make_unique<FinishedRequest>(arrived);
  }

  std::unique_ptr<Communicator> m_inner;
  Link m_link;
};

}  // namespace comm

std::unique_ptr<Communicator> make_throttled(std::unique_ptr<Communicator> inner, const Link& link) {
  return std::make_unique<comm::Throttled>(std::move(inner), link);
}

}  // namespace gradcomp
