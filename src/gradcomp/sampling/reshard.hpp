#pragma once
// Carries out resharding: ranks tell each other their sums and offers, agree on the swaps, and send what leaves them.
#include <memory>
#include <vector>

#include "gradcomp/comm/counting.hpp"
#include "gradcomp/sampling/batch_sampler.hpp"

namespace gradcomp::sampling {

class Resharder {
 public:
  /// Collective. `max_swaps`: largest number of swaps of all ranks in one call; `tolerance`: allowed deviation of a
  /// sum, relative to the mean.
  Resharder(Transport& transport, double tolerance, index_t max_swaps);

  /// Swaps samples in place, with their losses. A sample travels as its number and its loss, 16 bytes: every rank can
  /// read or generate the whole data set. Collective.
  Resharded swap(const Exec& exec, std::vector<index_t>& samples, std::vector<float>& losses);

 private:
  std::unique_ptr<CountingTransport> m_transport;
  double m_tolerance;
  index_t m_max;
};

}  // namespace gradcomp::sampling
