#pragma once
// The owner of a stripe in two_phase: the mean of what all ranks sent of it, compressed again, and what that loses.
#include "gradcomp/comm/call.hpp"
#include "gradcomp/exchange/receiver.hpp"
#include "gradcomp/exchange/sender.hpp"

namespace gradcomp {

/// sum(0) = NaN where flags(0) != 0: the method that compresses it then sends its own flag.
void poison(const Exec& exec, const Span<const std::uint32_t>& flags, const Span<float>& sum);

class StripeOwner {
 public:
  /// Of a stripe of `workers`, which outlive it; `remembers`: whether the owner has a residual, zero at first;
  /// `rate_aware`: whether that follows the learning rate.
  StripeOwner(const Sender& workers, std::size_t stripe, bool remembers, bool rate_aware);

  /// A new step.
  void begin() { m_bytes = {}; }

  /// Decodes the payloads at `received`, one of each rank, and averages them in rank order. Throws Error for bytes that
  /// are no payload of the stripe. A flag of any rank goes on with compress(). Nothing for an empty stripe.
  void average(const Exec& exec, const std::byte* received, const Blocks& blocks, const Receiver& receiver);

  /// The message of mean + residual; empty for an empty stripe. `context`: the step's on this rank; random numbers are
  /// those of rank ranks + rank.
  Span<const std::byte> compress(const Exec& exec, Context context);

  /// Hands on what average() found broken. Of flags all ranks hear.
  void report(const Exec& exec, Verdict& verdict) const { verdict.take_faults(exec, m_verdict); }

  /// After a skipped step: the residual as it was before compress().
  void restore(const Exec& exec) const { Kokkos::deep_copy(exec, m_residual, m_before); }

  Memories memories() const;
  index_t buffer_bytes() const {
    return 4 * static_cast<index_t>(m_mean.size() + m_before.size()) + m_state->scratch_bytes();
  }
  /// Of this step's message.
  const MessageBytes& bytes() const { return m_bytes; }

 private:
  const Compressor& m_compressor;
  std::unique_ptr<State> m_state;      ///< of the second compression: the first one's message is still needed
  Vector<float> m_mean;                ///< [count]
  Vector<float> m_residual, m_before;  ///< [count] with a memory: now, and before the step
  MemoryRate m_rate;                   ///< of the residual
  Message m_message;
  MessageBytes m_bytes;
  Verdict m_verdict;  ///< of the stripe
};

}  // namespace gradcomp
