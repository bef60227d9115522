#pragma once
// Resharding: ranks tell each other their sums and offers, agree on the swaps, and send the samples that leave them.
#include <memory>
#include <vector>

#include "gradcomp/comm/counting.hpp"
#include "gradcomp/sampling/batch_sampler.hpp"

namespace gradcomp::sampling {

class Resharder {
 public:
  /// Collective. `tolerance`: allowed deviation of a rank's sum from the mean over ranks, relative to this mean.
  /// `max_swaps`: largest number of swaps of all ranks in one call.
  Resharder(Transport& transport, double tolerance, index_t max_swaps);

  /// Swaps samples, with their losses, in place. A sample travels as its number and its loss, 16 bytes, because every
  /// rank can read or generate the whole data set. Collective.
  Resharded swap(const Exec& exec, std::vector<index_t>& samples, std::vector<float>& losses);

 private:
  std::unique_ptr<CountingTransport> m_transport;
  double m_tolerance;
  index_t m_max;
};

}  // namespace gradcomp::sampling
