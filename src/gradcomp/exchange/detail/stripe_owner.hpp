#pragma once
// The owner of a stripe in two_phase: the mean of what all ranks sent of it, compressed again, and what that loses.
#include <vector>

#include "gradcomp/comm/communicator.hpp"
#include "gradcomp/core/compressor.hpp"

namespace gradcomp {

class StripeOwner {
 public:
  /// `count`: elements of the stripe; `remembers`: whether the owner has a residual, zero at first.
  StripeOwner(const Compressor& compressor, index_t count, bool remembers);

  /// Decodes the payloads at `received`, one of each rank, with the stripe's `state` and averages them in rank order.
  /// Throws Error for bytes that are no payload of the stripe. A flag of any rank goes on with compress(). Waits.
  void average(const Exec& exec, const std::byte* received, const GatherSizes& sizes, State& state);

  /// The message of mean + residual. `state`: not that of the first compression, whose message is still needed;
  /// `context`: the step's on this rank, random numbers are those of rank ranks + rank.
  void compress(const Exec& exec, State& state, Context context, Message& message);

  /// After a skipped step: the residual as it was before compress().
  void restore(const Exec& exec) const { Kokkos::deep_copy(exec, m_residual, m_before); }

  std::vector<StateView> persistent() const;
  index_t buffer_bytes() const { return 4 * static_cast<index_t>(m_mean.size() + m_before.size()); }

 private:
  const Compressor& m_compressor;
  Vector<float> m_mean;                ///< [count]
  Vector<float> m_residual, m_before;  ///< [count] with a memory: now, and before the step
  bool m_flagged = false;
};

}  // namespace gradcomp
