#include "gradcomp/comm/transports/self.hpp"

#include <deque>
#include <map>

#include "gradcomp/comm/detail/copy.hpp"

namespace gradcomp {
namespace comm {
namespace {

using Mailbox = std::map<int, std::deque<std::vector<std::byte>>>;  ///< messages by tag

/// Carries out a collective call or a Send of a single rank. A Receive waits for its message.
struct Alone {
  const Exec& exec;
  Mailbox& mailbox;
  Found& found;

  void operator()(const AllReduce& c) const { copy(exec, c.send, c.receive, c.count * size_of(c.type)); }
  void operator()(const AllGather& c) const { copy(exec, c.send, c.receive, c.count * size_of(c.type)); }
  void operator()(const AllToAll& c) const { copy(exec, c.send, c.receive, c.count * size_of(c.type)); }
  void operator()(const ReduceScatter& c) const { copy(exec, c.send, c.receive, c.count * size_of(c.type)); }
  void operator()(const Broadcast&) const {}
  void operator()(const Barrier&) const {}
  void operator()(const AllGatherV& c) const {
    require(c.bytes <= c.capacity, "allgatherv: {} bytes do not fit {} bytes", c.bytes, c.capacity);
    found.blocks.size.assign(1, c.bytes);
    found.blocks.offset.assign(1, 0);
    copy(exec, c.send, c.receive, c.bytes);
  }
  void operator()(const AllToAllV& c) const {
    require(c.parts->size.size() == 1 && c.parts->offset.size() == 1, "alltoallv: {} sizes and {} offsets, 1 rank",
            c.parts->size.size(), c.parts->offset.size());
    const index_t bytes = c.parts->size[0];
    require(bytes <= c.capacity, "alltoallv: {} bytes do not fit {} bytes", bytes, c.capacity);
    found.blocks.size.assign(1, bytes);
    found.blocks.offset.assign(1, 0);
    found.all.assign(1, bytes);
    copy(exec, c.send + c.parts->offset[0], c.receive, bytes);
  }
  void operator()(const Send& c) const {
    std::vector<std::byte> message(static_cast<std::size_t>(c.bytes));
    to_host(exec, c.data, message.data(), c.bytes);
    mailbox[c.tag].push_back(std::move(message));
  }
  void operator()(const Receive&) const {}
};

class SelfCalls final : public Operation {
 public:
  void reset() {
    receives.clear();
    exec = Exec();
  }
  bool test() override {
    while (!receives.empty() && take(receives.front().first, receives.front().second)) receives.pop_front();
    if (receives.empty() && times.finished == Clock::time_point{}) {
      times.finished = Clock::now();
      exec = Exec();  // the pool keeps this object, perhaps for longer than the caller keeps its stream
    }
    return receives.empty();
  }
  void wait() override {
    require(test(), "receive: rank 0 waits for a message with tag {} that it has not sent", receives.front().first.tag);
  }

  Exec exec;
  Mailbox* mailbox = nullptr;
  std::deque<std::pair<Receive, std::size_t>> receives;  ///< with their indices in `found`

 private:
  bool take(const Receive& call, std::size_t place) {
    auto& messages = (*mailbox)[call.tag];
    if (messages.empty()) return false;
    const auto bytes = static_cast<index_t>(messages.front().size());
    require(bytes <= call.capacity, "receive from rank 0: {} bytes do not fit {} bytes", bytes, call.capacity);
    to_device(exec, messages.front().data(), call.data, bytes);
    messages.pop_front();
    found[place].bytes = bytes;
    found[place].source = 0;
    return true;
  }
};

class Self final : public Transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int ranks_per_node() const override { return 1; }
  std::string name() const override { return "self"; }
  bool overlaps() const override { return false; }
  bool concurrent() const override { return true; }

  Completion start(const Exec& exec, std::span<const Call> together) override {
    auto calls = m_pool.take(together.size());
    calls->exec = exec;
    calls->mailbox = &m_mailbox;
    calls->times.started = Clock::now();
    for (std::size_t i = 0; i < together.size(); ++i) {
      check_call(together[i], 1);
      std::visit(Alone{exec, m_mailbox, calls->found[i]}, together[i]);
      if (const auto* receive = std::get_if<Receive>(&together[i])) calls->receives.emplace_back(*receive, i);
    }
    calls->test();
    return Completion(std::move(calls));
  }
  std::unique_ptr<Transport> split(int, int) override { return make_self(); }

 private:
  Mailbox m_mailbox;
  OperationPool<SelfCalls> m_pool;
};

}  // namespace
}  // namespace comm

std::unique_ptr<Transport> make_self() { return std::make_unique<comm::Self>(); }

TransportEntry transports::self() {
  return {"self", "one rank, without MPI", {}, [](const std::any&, const ParameterValues&) { return make_self(); }};
}

}  // namespace gradcomp
