#pragma once
// A transport for unit tests without MPI. It pretends to be one of `size` ranks whose peers all send what this rank
// sends, and it records its calls. So sums are the value times size, and gathers are copies. What this rank sends to
// another one is lost.
#include <fmt/ranges.h>

#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gradcomp/comm/transports/callbacks.hpp"

namespace gradcomp::test {

class FakeTransport final : public Transport {
 public:
  struct Log {
    std::vector<std::string> calls;
    bool threads = true;    ///< result of concurrent()
    bool overlaps = false;  ///< result of overlaps()
    std::string fail_at;    ///< the call with this name throws
    /// For a transport that overlaps: whether a call may end now; null: always.
    std::function<bool()> ends;
    /// Gets what an allgatherv or alltoallv received, and may spoil it.
    std::function<void(const std::string& call, std::byte* received, Blocks& blocks)> tamper;
    std::mutex mutex;  ///< of `calls`: messages over an emulated link leave from a thread of their own
    /// Gets the sum of an allreduce of 64-bit integers, and may spoil it.
    std::function<void(index_t* sums, index_t count)> tamper_sum;
  };

  explicit FakeTransport(int size = 1, int rank = 0, std::shared_ptr<Log> shared = std::make_shared<Log>())
      : log(std::move(shared)), m_size(size), m_rank(rank) {
    Callbacks functions{rank, size, "fake", true, true, nullptr, nullptr};
    functions.carry = [this, log = log](const Exec&, const Call& call, Found& found) {
      return std::visit([&](const auto& c) { return carry(*log, c, found); }, call);
    };
    m_inner = make_callbacks(std::move(functions));
  }

  std::shared_ptr<Log> log;

  int rank() const override { return m_rank; }
  int size() const override { return m_size; }
  int ranks_per_node() const override { return size(); }
  std::string name() const override { return "fake"; }
  bool overlaps() const override { return log->overlaps; }
  bool concurrent() const override { return log->threads; }
  Completion start(const Exec& exec, std::span<const Call> together) override {
    for (const Call& call : together) note(call);
    return m_inner->start(exec, together);
  }
  std::unique_ptr<Transport> split(int, int) override { return std::make_unique<FakeTransport>(m_size, m_rank, log); }

 private:
  struct Text {
    std::string operator()(const AllReduce& c) const { return fmt::format("allreduce {}", c.count); }
    std::string operator()(const AllGather& c) const { return fmt::format("allgather {}", c.count); }
    std::string operator()(const AllGatherV& c) const { return fmt::format("allgatherv {}", c.bytes); }
    std::string operator()(const AllToAll& c) const { return fmt::format("alltoall {}", c.count); }
    std::string operator()(const AllToAllV& c) const {
      return fmt::format("alltoallv {}", fmt::join(c.parts->size, " "));
    }
    std::string operator()(const ReduceScatter& c) const { return fmt::format("reduce_scatter {}", c.count); }
    std::string operator()(const Broadcast& c) const { return fmt::format("broadcast {}", c.count); }
    std::string operator()(const Send& c) const { return fmt::format("send {}", c.bytes); }
    std::string operator()(const Receive& c) const { return fmt::format("receive {}", c.capacity); }
    std::string operator()(const Barrier&) const { return "barrier"; }
  };

  void note(const Call& call) {
    const std::lock_guard lock(log->mutex);
    log->calls.push_back(std::visit(Text{}, call));
    require(log->fail_at.empty() || log->calls.back().rfind(log->fail_at, 0) != 0, "{} failed", log->calls.back());
  }

  static bool may_end(const Log& l) { return !l.overlaps || !l.ends || l.ends(); }

  bool carry(const Log& l, const AllReduce& c, Found&) const {
    if (!may_end(l)) return false;
    std::memmove(c.receive, c.send, static_cast<std::size_t>(c.count * size_of(c.type)));
    if (c.op == ReduceOp::sum && c.type == DType::f32) {
      for (index_t i = 0; i < c.count; ++i) static_cast<float*>(c.receive)[i] *= static_cast<float>(m_size);
    }
    if (l.tamper_sum && c.type == DType::i64) l.tamper_sum(static_cast<index_t*>(c.receive), c.count);
    return true;
  }
  bool carry(const Log& l, const AllGather& c, Found&) const {
    if (!may_end(l)) return false;
    repeat(c.send, c.receive, c.count * size_of(c.type), c.count * size_of(c.type));
    return true;
  }
  bool carry(const Log& l, const AllGatherV& c, Found& found) const {
    if (!may_end(l)) return false;
    require(aligned(c.bytes) * (m_size - 1) + c.bytes <= c.capacity, "allgatherv: too small");
    receive(l, "allgatherv", c.send, c.bytes, c.receive, found);
    return true;
  }
  bool carry(const Log&, const AllToAll&, Found&) const { return true; }
  /// Every peer sends to this rank what this rank sends to itself.
  bool carry(const Log& l, const AllToAllV& c, Found& found) const {
    const auto own = static_cast<std::size_t>(m_rank);
    const index_t bytes = c.parts->size[own];
    require(aligned(bytes) * (m_size - 1) + bytes <= c.capacity, "alltoallv: too small");
    found.all.clear();
    for (int r = 0; r < m_size; ++r) found.all.insert(found.all.end(), c.parts->size.begin(), c.parts->size.end());
    receive(l, "alltoallv", c.send + c.parts->offset[own], bytes, c.receive, found);
    return true;
  }
  bool carry(const Log&, const Receive&, Found& found) const {
    found.bytes = 0;
    found.source = 0;
    return true;
  }
  template <class C>
  bool carry(const Log&, const C&, Found&) const {
    return true;
  }

  void receive(const Log& l, const char* call, const std::byte* send, index_t bytes, std::byte* receive,
               Found& found) const {
    found.blocks.size.assign(static_cast<std::size_t>(m_size), bytes);
    found.blocks.offset.clear();
    for (int r = 0; r < m_size; ++r) found.blocks.offset.push_back(aligned(bytes) * r);
    repeat(send, receive, bytes, aligned(bytes));
    if (l.tamper) l.tamper(call, receive, found.blocks);
  }
  void repeat(const void* send, void* receive, index_t bytes, index_t stride) const {
    for (int r = 0; r < m_size; ++r) {
      std::memcpy(static_cast<std::byte*>(receive) + r * stride, send, static_cast<std::size_t>(bytes));
    }
  }

  int m_size, m_rank;
  std::unique_ptr<Transport> m_inner;
};

}  // namespace gradcomp::test
