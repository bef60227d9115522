#pragma once
// A receiver turns a message of bytes back into a gradient. Servers have their own State for it. On the rank of a
// sender, it works with the sender's State.
#include <memory>

#include "gradcomp/core/compressor.hpp"

namespace gradcomp {

class Receiver {
 public:
  /// A receiver with its own State, for messages of a bucket (or stripe) of this layout. `compressor` outlives it.
  Receiver(const Compressor& compressor, const Layout& layout)
      : m_compressor(&compressor), m_own(compressor.prepare(layout)), m_state(m_own.get()) {}
  /// A receiver with the State of a sender's stripe, which outlives it.
  Receiver(const Compressor& compressor, State& state) : m_compressor(&compressor), m_state(&state) {}

  /// Compressor::decode_add(): out += received.weight * the decoded payload.
  void add(const Exec& exec, const Received& received, const Span<float>& out) const {
    m_compressor->decode_add(exec, received, *m_state, out);
  }

  /// Compressor::decode_sum(): out = the sum of all messages.
  void sum(const Exec& exec, std::span<const Received> messages, const Span<float>& out) const {
    m_compressor->decode_sum(exec, messages, *m_state, out);
  }

 private:
  const Compressor* m_compressor;
  std::unique_ptr<State> m_own;
  State* m_state;
};

}  // namespace gradcomp
