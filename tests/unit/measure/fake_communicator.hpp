#pragma once
// A communicator of two ranks whose other rank is a script: what it contributes to each allreduce, in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gradcomp/comm/communicator.hpp"

namespace gradcomp {

class FakeCommunicator final : public Communicator {
 public:
  explicit FakeCommunicator(std::vector<std::vector<std::int64_t>> other) : m_other(std::move(other)) {}

  int barriers = 0;

  int rank() const override { return 0; }
  int size() const override { return 2; }
  std::string name() const override { return "fake"; }
  bool concurrent() const override { return false; }

  RequestPtr allreduce(const Exec&, const void* send, void* receive, index_t count, DType type, ReduceOp op) override {
    EXPECT_EQ(type, DType::i64);
    EXPECT_EQ(op, ReduceOp::max);
    const auto& other = m_other.at(m_next++);
    EXPECT_EQ(static_cast<index_t>(other.size()), count);
    for (std::size_t i = 0; i < other.size(); ++i) {
      static_cast<std::int64_t*>(receive)[i] = std::max(static_cast<const std::int64_t*>(send)[i], other[i]);
    }
    return done();
  }
  RequestPtr allgather(const Exec&, const void*, void*, index_t, DType) override { return unused(); }
  RequestPtr allgatherv(const Exec&, const std::byte*, index_t, std::byte*, index_t, GatherSizes&) override {
    return unused();
  }
  RequestPtr alltoall(const Exec&, const void*, void*, index_t, DType) override { return unused(); }
  RequestPtr alltoallv(const Exec&, const std::byte*, const GatherSizes&, std::byte*, index_t, PartSizes&) override {
    return unused();
  }
  RequestPtr reduce_scatter(const Exec&, const void*, void*, index_t, DType, ReduceOp) override { return unused(); }
  RequestPtr broadcast(const Exec&, void*, index_t, DType, int) override { return unused(); }
  RequestPtr send(const Exec&, const void*, index_t, DType, int, int) override { return unused(); }
  RequestPtr receive(const Exec&, void*, index_t, DType, int, int, int*) override { return unused(); }
  RequestPtr send_sized(const Exec&, const std::byte*, index_t, int, int) override { return unused(); }
  RequestPtr receive_sized(const Exec&, std::byte*, index_t, int, int, index_t*) override { return unused(); }
  void barrier() override { ++barriers; }
  std::unique_ptr<Communicator> split(int, int) override { return nullptr; }

 private:
  struct Done final : Request {
    void wait(const Exec&) override {}
  };
  static RequestPtr done() { return std::make_unique<Done>(); }
  static RequestPtr unused() {
    ADD_FAILURE() << "an operation that the measuring layer does not use";
    return done();
  }

  std::vector<std::vector<std::int64_t>> m_other;
  std::size_t m_next = 0;
};

}  // namespace gradcomp
