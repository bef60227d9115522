#pragma once
// A communicator for unit tests, without MPI: it pretends to be one of `size` ranks whose peers all send what it sends,
// and writes down its calls. (Sums are the value times size, gathers are copies.)
#include <fmt/ranges.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/comm/communicator.hpp"

namespace gradcomp::test {

class FakeCommunicator final : public Communicator {
 public:
  explicit FakeCommunicator(int size = 1, int rank = 0) : m_size(size), m_rank(rank) {}

  struct Log {
    std::vector<std::string> calls;
    bool threads = true;  ///< what concurrent() answers
    std::string fail_at;  ///< the call of this name throws
    /// What an allgatherv or alltoallv received, to be spoilt.
    std::function<void(const std::string& call, std::byte* received, GatherSizes& sizes)> tamper;
  };
  std::shared_ptr<Log> log = std::make_shared<Log>();

  int rank() const override { return m_rank; }
  int size() const override { return m_size; }
  std::string name() const override { return "fake"; }
  bool concurrent() const override { return log->threads; }

  RequestPtr allreduce(const Exec&, const void* send, void* receive, index_t count, DType type, ReduceOp op) override {
    note(fmt::format("allreduce {}", count));
    std::memmove(receive, send, static_cast<std::size_t>(count * size_of(type)));
    if (op == ReduceOp::sum && type == DType::f32) {
      for (index_t i = 0; i < count; ++i) static_cast<float*>(receive)[i] *= static_cast<float>(m_size);
    }
    return done();
  }
  RequestPtr allgather(const Exec&, const void* send, void* receive, index_t count, DType type) override {
    note(fmt::format("allgather {}", count));
    repeat(send, receive, count * size_of(type), count * size_of(type));
    return done();
  }
  RequestPtr allgatherv(const Exec&, const std::byte* send, index_t bytes, std::byte* receive, index_t capacity,
                        GatherSizes& sizes) override {
    note(fmt::format("allgatherv {}", bytes));
    const index_t stride = (bytes + gather_alignment - 1) / gather_alignment * gather_alignment;
    require(stride * (m_size - 1) + bytes <= capacity, "allgatherv: too small");
    sizes.size.assign(static_cast<std::size_t>(m_size), bytes);
    sizes.offset.clear();
    for (int r = 0; r < m_size; ++r) sizes.offset.push_back(stride * r);
    repeat(send, receive, bytes, stride);
    if (log->tamper) log->tamper("allgatherv", receive, sizes);
    return done();
  }
  RequestPtr alltoall(const Exec&, const void*, void*, index_t count, DType) override {
    note(fmt::format("alltoall {}", count));
    return done();
  }
  /// Every peer sends here what this rank sends to itself.
  RequestPtr alltoallv(const Exec&, const std::byte* send, const GatherSizes& parts, std::byte* receive,
                       index_t capacity, PartSizes& sizes) override {
    const auto own = static_cast<std::size_t>(m_rank);
    note(fmt::format("alltoallv {}", fmt::join(parts.size, " ")));
    const index_t bytes = parts.size[own];
    const index_t stride = (bytes + gather_alignment - 1) / gather_alignment * gather_alignment;
    require(stride * (m_size - 1) + bytes <= capacity, "alltoallv: too small");
    sizes = {};
    for (int r = 0; r < m_size; ++r) {
      sizes.all.insert(sizes.all.end(), parts.size.begin(), parts.size.end());
      sizes.received.size.push_back(bytes);
      sizes.received.offset.push_back(stride * r);
    }
    repeat(send + parts.offset[own], receive, bytes, stride);
    if (log->tamper) log->tamper("alltoallv", receive, sizes.received);
    return done();
  }
  RequestPtr reduce_scatter(const Exec&, const void*, void*, index_t count, DType, ReduceOp) override {
    note(fmt::format("reduce_scatter {}", count));
    return done();
  }
  RequestPtr broadcast(const Exec&, void*, index_t count, DType, int) override {
    note(fmt::format("broadcast {}", count));
    return done();
  }
  RequestPtr send(const Exec&, const void*, index_t count, DType, int, int) override {
    note(fmt::format("send {}", count));
    return done();
  }
  RequestPtr receive(const Exec&, void*, index_t count, DType, int, int, int*) override {
    note(fmt::format("receive {}", count));
    return done();
  }
  RequestPtr send_sized(const Exec&, const std::byte*, index_t bytes, int, int) override {
    note(fmt::format("send_sized {}", bytes));
    return done();
  }
  RequestPtr receive_sized(const Exec&, std::byte*, index_t capacity, int, int, index_t* bytes) override {
    note(fmt::format("receive_sized {}", capacity));
    *bytes = 0;
    return done();
  }
  void barrier() override { note("barrier"); }
  std::unique_ptr<Communicator> split(int, int) override {
    auto part = std::make_unique<FakeCommunicator>(m_size, m_rank);
    part->log = log;
    return part;
  }

 private:
  void note(const std::string& call) {
    log->calls.push_back(call);
    require(log->fail_at.empty() || call.rfind(log->fail_at, 0) != 0, "{} failed", call);
  }
  void repeat(const void* send, void* receive, index_t bytes, index_t stride) const {
    for (int r = 0; r < m_size; ++r) {
      std::memcpy(static_cast<std::byte*>(receive) + r * stride, send, static_cast<std::size_t>(bytes));
    }
  }
  static RequestPtr done() { return std::make_unique<FinishedRequest>(Request::Clock::now()); }

  int m_size, m_rank;
};

}  // namespace gradcomp::test
