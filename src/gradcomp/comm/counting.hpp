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

/// The traffic so far, by operation.
class Ledger {
 public:
  void add(std::size_t operation, const Traffic& traffic) { m_traffic[operation] += traffic; }
  /// The traffic of the operation C, such as of<AllReduce>().
  template <class C>
  const Traffic& of() const {
    return m_traffic[Call(C{}).index()];
  }
  Traffic total() const;

 private:
  std::array<Traffic, std::variant_size_v<Call>> m_traffic;
};

/// A call is counted when test(), wait() or order() sees that it has ended; read the ledger on the thread that calls
/// them. A split() adds to the same ledger.
class CountingTransport : public Transport {
 public:
  virtual const Ledger& ledger() const = 0;
};

std::unique_ptr<CountingTransport> make_counting(std::unique_ptr<Transport> inner);

}  // namespace gradcomp
