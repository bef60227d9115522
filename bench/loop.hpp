#pragma once
// One rank that exchanges with itself: what a compressor costs, without any communication.
#include <functional>
#include <memory>
#include <utility>

#include "gradcomp/exchange/spec.hpp"
#include "gradcomp/feedback/feedback.hpp"

namespace gradcomp::bench {

class Loop {
 public:
  /// Everything is allocated here. `force_residual`: error feedback whatever the method's default is, because the
  /// residual identity is what tells a right answer of any method.
  Loop(const MethodSpec& method, const Layout& layout, std::uint64_t seed, bool force_residual = false);

  /// Forgets what was not sent, so that every call of compress() sees the same input.
  void reset(const Exec& exec);

  /// Up to the last message, as the exchange would receive it. All rounds but the last are also reduced (over one
  /// rank).
  void compress(const Exec& exec, const Span<const float>& gradient);

  /// From the last message to the estimate of the mean, in out(). Throws Error when the step was flagged: the input is
  /// finite.
  void decompress(const Exec& exec);

  /// `seen` is called with every message as produce() left it; null: nothing is.
  void on_message(std::function<void(const Message&)> seen) { m_seen = std::move(seen); }

  /// Seconds since the last call that went into copying sums, which an exchange would do: no part of the method.
  double take_exchange_seconds() { return std::exchange(m_exchange_seconds, 0.0); }

  const Vector<float>& out() const { return m_out; }
  bool has_memory() const { return !m_feedback.persistent().empty(); }
  /// The method itself remembers something between steps (warm-started factors, thresholds).
  bool has_state() const { return !m_state->persistent().empty(); }
  /// What was not sent: as many elements as the gradient. Only where has_memory().
  Span<const float> memory() const;

  /// Bytes of the last compress(), headers apart, and of the headers.
  index_t payload_bytes() const { return m_bytes - header_bytes(); }
  index_t header_bytes() const;

  /// Memory that it holds: memories, state, work space and out().
  index_t bytes() const;

 private:
  void reduce_alone(const Exec& exec);

  std::shared_ptr<const Compressor> m_compressor;
  Layout m_layout;
  Feedback m_feedback;
  std::unique_ptr<State> m_state;
  Context m_context;
  Source m_source;
  Message m_message;
  std::function<void(const Message&)> m_seen;
  Vector<float> m_out;
  index_t m_bytes = 0;
  double m_exchange_seconds = 0;
};

}  // namespace gradcomp::bench
