#pragma once
// A transport that counts the bytes that its calls move, by the true volume of the algorithms (volume.hpp).
#include <array>
#include <memory>

#include "gradcomp/comm/transport.hpp"

namespace gradcomp {

/// Bytes and calls of one rank.
struct Traffic {
  index_t calls = 0, sent = 0, received = 0;
  Traffic& operator+=(const Traffic& other);
};

/// The traffic so far, by level and operation.
class Ledger {
 public:
  void add(Level level, std::size_t operation, const Traffic& traffic) { at(level, operation) += traffic; }
  /// The traffic of the operation C on one level, such as of<AllReduce>(Level::node).
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

/// A call is counted when test(), wait() or order() sees that it has ended; read the ledger on the thread that calls
/// them. A split() adds to the same ledger under its own level.
class CountingTransport : public Transport {
 public:
  virtual const Ledger& ledger() const = 0;
};

std::unique_ptr<CountingTransport> make_counting(std::unique_ptr<Transport> inner);

}  // namespace gradcomp
