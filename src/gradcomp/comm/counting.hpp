#pragma once
// A transport that counts what its calls move, by the algorithm's true volume (volume.hpp).
#include <array>
#include <memory>

#include "gradcomp/comm/transport.hpp"

namespace gradcomp {

/// Bytes and calls of one rank.
struct Traffic {
  index_t calls = 0, sent = 0, received = 0;
  Traffic& operator+=(const Traffic& other);
};

/// What was moved so far, by level and operation.
class Ledger {
 public:
  void add(Level level, std::size_t operation, const Traffic& traffic) { at(level, operation) += traffic; }
  /// Of the operation C on one level, e.g. of<AllReduce>(Level::node).
  template <class C>
  const Traffic& of(Level level = Level::all) const {
    return m_traffic[static_cast<std::size_t>(level)][Call(C{}).index()];
  }
  Traffic total(Level level) const;
  Traffic total() const;

 private:
  Traffic& at(Level level, std::size_t operation) { return m_traffic[static_cast<std::size_t>(level)][operation]; }
  std::array<std::array<Traffic, std::variant_size_v<Call>>, level_count> m_traffic;
};

/// Calls are counted when they are seen to have ended, by test(), wait() or order(); read the ledger on the thread that
/// does so. split() inherits the ledger, and counts under its own level.
class CountingTransport : public Transport {
 public:
  virtual const Ledger& ledger() const = 0;
};

std::unique_ptr<CountingTransport> make_counting(std::unique_ptr<Transport> inner);

}  // namespace gradcomp
