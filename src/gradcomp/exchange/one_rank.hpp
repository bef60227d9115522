#pragma once
// One rank that exchanges with itself, to measure what a compressor costs and loses without communication. The bench
// and evaluations use it in two halves: compress() up to the last message, and decompress() from there to the estimate
// of the mean.
#include <functional>
#include <memory>

#include "gradcomp/exchange/receiver.hpp"
#include "gradcomp/exchange/reduction.hpp"

namespace gradcomp {

/// A method flagged its message, or its sum is not finite.
class DivergedError : public Error {
 public:
  using Error::Error;
};

class OneRank {
 public:
  /// Allocates everything. Applies the method's granularity to `layout`.
  OneRank(const MethodSpec& method, const Layout& layout, std::uint64_t seed = 1);

  /// Clears the memories of the feedback.
  void forget(const Exec& exec) { sender().forget(exec); }

  /// Makes the messages up to the last one, as the exchange would receive it. All rounds but the last are also reduced
  /// (over one rank).
  void compress(const Exec& exec, const Span<const float>& gradient, std::int64_t step = 0);

  /// Turns the last message into the estimate in out(); for ef21 it is a difference. Throws DivergedError if the
  /// gradient, or what the method makes of it, is not finite; the object is then of no further use.
  void decompress(const Exec& exec);

  /// Keeps a copy of the last message, if it has bytes, as that of another sender: decompress() then gives the mean
  /// over all senders.
  void add_sender();
  void remove_senders() { m_others.clear(); }
  index_t senders() const { return 1 + static_cast<index_t>(m_others.size()); }

  /// From now on calls `seen` with every message as produce() left it; null: calls nothing.
  void on_message(std::function<void(const Message&)> seen) { m_seen = std::move(seen); }

  /// Seconds since the last call of this function that were spent on copying sums. An exchange would do this; it is not
  /// part of the method.
  double take_exchange_seconds();

  const Vector<float>& out() const { return m_out; }
  Sender& sender() { return m_reduction.sender(); }
  const Sender& sender() const { return m_reduction.sender(); }

  bool has_memory() const { return sender().source_of({}, {}, 1).has_memory(); }
  /// Whether the method itself remembers something between steps, such as warm-started factors or thresholds.
  bool has_state() const { return m_has_state; }
  /// What was not sent: as many elements as the gradient. Call it only if has_memory().
  Span<const float> memory() const;

  /// Bytes of the messages of the last compress(), without and of the headers.
  index_t payload_bytes() const { return sender().bytes().payload; }
  index_t header_bytes() const { return sender().bytes().header; }

  /// Bytes that it holds: memories, state, work space and out().
  index_t bytes();

 private:
  void launch(const Exec& exec);

  bool m_gathered;  ///< the method has one round, of bytes, which a receiver decodes
  std::uint64_t m_seed;
  Faults m_faults;
  std::unique_ptr<Transport> m_self;
  Reduction m_reduction;
  Receiver m_receiver;
  Timeline m_timeline;
  std::function<void(const Message&)> m_seen;
  std::vector<Vector<std::byte>> m_others;  ///< messages of other senders
  std::vector<Received> m_messages;
  Vector<float> m_out;
  std::int64_t m_step = 0;
  bool m_has_state = false;
};

/// A layout of `elements` values, shaped like a layer so that low-rank methods have something to factor: the largest
/// matrix of 2^j columns that is not wider than tall, and the rest as a vector.
Layout layer_like(index_t elements);

}  // namespace gradcomp
