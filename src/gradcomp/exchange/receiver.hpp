#pragma once
// A receiver turns a message of bytes back into a gradient. Servers have their own State for it. On the rank of a
// sender, it works with the sender's State.
#include <memory>

#include "gradcomp/core/compressor.hpp"
#include "gradcomp/core/verdict.hpp"

namespace gradcomp {

class Receiver {
 public:
  /// A receiver with its own State, for messages of a bucket (or stripe) of this layout. `compressor` outlives it.
  Receiver(const Compressor& compressor, const Layout& layout)
      : m_compressor(&compressor), m_own(compressor.prepare(layout)), m_state(m_own.get()) {}
  /// A receiver with the State of a sender's stripe, which outlives it.
  Receiver(const Compressor& compressor, State& state) : m_compressor(&compressor), m_state(&state) {}

  /// Compressor::decode_add(): out += weight * the decoded `payload`. A flagged message only raises the verdict's flag.
  void add(const Exec& exec, const Span<const std::byte>& payload, float weight, const Span<float>& out,
           Verdict& verdict) const {
    m_compressor->decode_add(exec, payload, weight, *m_state, out, verdict);
  }

  /// add() for a payload that was made with another seed, step or rank than the State's last one. A server's State, for
  /// example, makes no payloads.
  void add_from(const Exec& exec, const Context& sender, const Span<const std::byte>& payload, float weight,
                const Span<float>& out, Verdict& verdict) const {
    const Context own = m_state->context;
    m_state->follow(sender);
    add(exec, payload, weight, out, verdict);
    m_state->follow(own);
  }

 private:
  const Compressor* m_compressor;
  std::unique_ptr<State> m_own;
  State* m_state;
};

}  // namespace gradcomp
