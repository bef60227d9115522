#pragma once
// The owner of a stripe in two_phase: it averages what all ranks sent of the stripe, compresses the mean again, and
// keeps what this loses.
#include "gradcomp/comm/call.hpp"
#include "gradcomp/exchange/receiver.hpp"
#include "gradcomp/exchange/sender.hpp"

namespace gradcomp {

class StripeOwner {
 public:
  /// The owner of a stripe of `workers`, which outlive it. `remembers`: whether the owner has a residual, which is zero
  /// at first. `rate_aware`: whether the residual follows the learning rate.
  StripeOwner(const Sender& workers, std::size_t stripe, bool remembers, bool rate_aware);

  /// Begins a new step.
  void begin() { m_bytes = {}; }

  /// [count] of the stripe; the reducer averages in it what all ranks sent.
  Span<float> mean() const { return m_mean; }

  /// Returns the message of mean() + residual, empty for an empty stripe. `context` is this rank's context of the step;
  /// the random numbers are those of rank ranks + rank.
  Span<const std::byte> compress(const Exec& exec, Context context);

  Memories memories() const;
  index_t buffer_bytes() const { return 4 * static_cast<index_t>(m_mean.size()) + m_state->scratch_bytes(); }
  /// Bytes of this step's message.
  const MessageBytes& bytes() const { return m_bytes; }

 private:
  const Compressor& m_compressor;
  std::unique_ptr<State> m_state;  ///< for the second compression, because the message of the first is still needed
  Vector<float> m_mean;            ///< [count]
  Vector<float> m_residual;        ///< [count], or empty
  MemoryRate m_rate;               ///< that of the residual
  MessageBytes m_bytes;
};

}  // namespace gradcomp
