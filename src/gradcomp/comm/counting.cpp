#include "gradcomp/comm/counting.hpp"

#include <functional>
#include <utility>

#include "gradcomp/comm/volume.hpp"

namespace gradcomp {
namespace comm {

class Counting final : public CountingCommunicator {
 public:
  explicit Counting(std::unique_ptr<Communicator> inner) : m_inner(std::move(inner)) {}

  const Traffic& of(Operation operation) const override { return m_traffic[static_cast<std::size_t>(operation)]; }
  int rank() const override { return m_inner->rank(); }
  int size() const override { return m_inner->size(); }
  std::string name() const override { return "counting/" + m_inner->name(); }
  bool concurrent() const override { return m_inner->concurrent(); }

  RequestPtr allreduce(const Exec& exec, const void* send, void* receive, index_t count, DType type,
                       ReduceOp op) override {
    add(Operation::allreduce, allreduce_volume(size(), rank(), count, size_of(type)));
    return m_inner->allreduce(exec, send, receive, count, type, op);
  }
  RequestPtr allgather(const Exec& exec, const void* send, void* receive, index_t count, DType type) override {
    add(Operation::allgather, allgather_volume(size(), count * size_of(type)));
    return m_inner->allgather(exec, send, receive, count, type);
  }
  RequestPtr allgatherv(const Exec& exec, const std::byte* send, index_t bytes, std::byte* receive, index_t capacity,
                        GatherSizes& sizes) override {
    return counted(m_inner->allgatherv(exec, send, bytes, receive, capacity, sizes), Operation::allgatherv,
                   [this, &sizes] { return allgatherv_volume(rank(), sizes.size); });
  }
  RequestPtr alltoall(const Exec& exec, const void* send, void* receive, index_t count, DType type) override {
    add(Operation::alltoall, alltoall_volume(size(), count * size_of(type)));
    return m_inner->alltoall(exec, send, receive, count, type);
  }
  RequestPtr alltoallv(const Exec& exec, const std::byte* send, const GatherSizes& parts, std::byte* receive,
                       index_t capacity, PartSizes& sizes) override {
    return counted(m_inner->alltoallv(exec, send, parts, receive, capacity, sizes), Operation::alltoallv,
                   [this, &sizes] { return alltoallv_volume(size(), rank(), sizes.all); });
  }
  RequestPtr reduce_scatter(const Exec& exec, const void* send, void* receive, index_t count, DType type,
                            ReduceOp op) override {
    add(Operation::reduce_scatter, reduce_scatter_volume(size(), count * size_of(type)));
    return m_inner->reduce_scatter(exec, send, receive, count, type, op);
  }
  RequestPtr broadcast(const Exec& exec, void* data, index_t count, DType type, int root) override {
    add(Operation::broadcast, broadcast_volume(size(), rank(), root, count * size_of(type)));
    return m_inner->broadcast(exec, data, count, type, root);
  }
  RequestPtr send(const Exec& exec, const void* data, index_t count, DType type, int to, int tag) override {
    add(Operation::send, {count * size_of(type), 0, 0, 1});
    return m_inner->send(exec, data, count, type, to, tag);
  }
  RequestPtr receive(const Exec& exec, void* data, index_t count, DType type, int from, int tag, int* source) override {
    add(Operation::receive, {0, count * size_of(type), 0, 1});
    return m_inner->receive(exec, data, count, type, from, tag, source);
  }
  RequestPtr send_sized(const Exec& exec, const std::byte* data, index_t bytes, int to, int tag) override {
    add(Operation::send, {bytes + size_of(DType::i64), 0, 0, 2});
    return m_inner->send_sized(exec, data, bytes, to, tag);
  }
  RequestPtr receive_sized(const Exec& exec, std::byte* data, index_t capacity, int from, int tag,
                           index_t* bytes) override {
    return counted(m_inner->receive_sized(exec, data, capacity, from, tag, bytes), Operation::receive,
                   [bytes] { return Volume{0, *bytes + size_of(DType::i64), 0, 2}; });
  }
  void barrier() override {
    add(Operation::barrier, barrier_volume(size()));
    m_inner->barrier();
  }
  std::unique_ptr<Communicator> split(int color, int key) override {
    return std::make_unique<Counting>(m_inner->split(color, key));
  }

 private:
  /// Only the end of a call with sizes of its own knows its volume.
  class Counted final : public Request {
   public:
    Counted(Counting& owner, RequestPtr inner, Operation operation, std::function<Volume()> volume)
        : m_owner(owner), m_inner(std::move(inner)), m_operation(operation), m_volume(std::move(volume)) {}
    void wait(const Exec& exec) override {
      m_inner->wait(exec);
      started = m_inner->started;
      finished = m_inner->finished;
      if (!std::exchange(m_counted, true)) m_owner.add(m_operation, m_volume());
    }

   private:
    Counting& m_owner;
    RequestPtr m_inner;
    Operation m_operation;
    std::function<Volume()> m_volume;
    bool m_counted = false;
  };

  RequestPtr counted(RequestPtr inner, Operation operation, std::function<Volume()> volume) {
    return std::make_unique<Counted>(*this, std::move(inner), operation, std::move(volume));
  }

  void add(Operation operation, const Volume& volume) {
    Traffic& traffic = m_traffic[static_cast<std::size_t>(operation)];
    traffic.calls += 1;
    traffic.sent += volume.sent;
    traffic.received += volume.received;
  }

  std::unique_ptr<Communicator> m_inner;
  std::array<Traffic, operation_count> m_traffic;
};

}  // namespace comm

const char* to_string(Operation operation) {
  static constexpr std::array<const char*, operation_count> names = {
      "allreduce",      "allgather", "allgatherv", "alltoall", "alltoallv",
      "reduce_scatter", "broadcast", "send",       "receive",  "barrier"};
  return names[static_cast<std::size_t>(operation)];
}

Traffic CountingCommunicator::total() const {
  Traffic sum;
  for (std::size_t i = 0; i < operation_count; ++i) {
    const Traffic& one = of(static_cast<Operation>(i));
    sum.calls += one.calls;
    sum.sent += one.sent;
    sum.received += one.received;
  }
  return sum;
}

std::unique_ptr<CountingCommunicator> make_counting(std::unique_ptr<Communicator> inner) {
  return std::make_unique<comm::Counting>(std::move(inner));
}

}  // namespace gradcomp
