#pragma once
// The owner of a stripe in two_phase: it averages what all ranks sent of the stripe, compresses the mean again, and
// keeps what this loses.
#include "gradcomp/comm/call.hpp"
#include "gradcomp/exchange/receiver.hpp"
#include "gradcomp/exchange/sender.hpp"

namespace gradcomp {

/// sum(0) = NaN if flags(0) != 0, so that the method that compresses the sum sends its own flag.
void poison(const Exec& exec, const Span<const std::uint32_t>& flags, const Span<float>& sum);

class StripeOwner {
 public:
  /// The owner of a stripe of `workers`, which outlive it. `remembers`: whether the owner has a residual, which is zero
  /// at first. `rate_aware`: whether the residual follows the learning rate.
  StripeOwner(const Sender& workers, std::size_t stripe, bool remembers, bool rate_aware);

  /// Begins a new step.
  void begin() { m_bytes = {}; }

  /// Decodes the payloads at `received`, one from each rank, and averages them in rank order. Throws Error for bytes
  /// that are no payload of the stripe. If a rank sent a flag, compress() sends it on. Does nothing for an empty
  /// stripe.
  void average(const Exec& exec, const std::byte* received, const Blocks& blocks, const Receiver& receiver);

  /// Returns the message of mean + residual, empty for an empty stripe. `context` is this rank's context of the step;
  /// the random numbers are those of rank ranks + rank.
  Span<const std::byte> compress(const Exec& exec, Context context);

  /// Passes on what average() found broken. Flags are not passed on here, because all ranks receive them.
  void report(const Exec& exec, Verdict& verdict) const { verdict.take_faults(exec, m_verdict); }

  /// Call it after a skipped step: the residual becomes what it was before compress().
  void restore(const Exec& exec) const { Kokkos::deep_copy(exec, m_residual, m_before); }

  Memories memories() const;
  index_t buffer_bytes() const {
    return 4 * static_cast<index_t>(m_mean.size() + m_before.size()) + m_state->scratch_bytes();
  }
  /// Bytes of this step's message.
  const MessageBytes& bytes() const { return m_bytes; }

 private:
  const Compressor& m_compressor;
  std::unique_ptr<State> m_state;      ///< for the second compression, because the message of the first is still needed
  Vector<float> m_mean;                ///< [count]
  Vector<float> m_residual, m_before;  ///< [count] with a memory: the residual now, and before the step
  MemoryRate m_rate;                   ///< that of the residual
  Message m_message;
  MessageBytes m_bytes;
  Verdict m_verdict;  ///< that of the stripe
};

}  // namespace gradcomp
