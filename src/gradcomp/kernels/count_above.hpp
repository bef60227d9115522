#pragma once
// Exact counts of the elements above several thresholds per segment, in one read: what searches for a threshold need.
#include <array>
#include <vector>

#include "gradcomp/kernels/candidates.hpp"

namespace gradcomp::kernels {

inline constexpr int most_probes = 8;

/// Thresholds of one segment, as magnitude()s and in any order; negative: not asked.
using Probes = std::array<std::int32_t, most_probes>;
/// Elements with a magnitude above each; 0 where it was not asked.
using Counts = std::array<index_t, most_probes>;

inline constexpr Probes no_probes = {-1, -1, -1, -1, -1, -1, -1, -1};

namespace detail {
template <class T>
struct PerProbe {
  T at[most_probes];
};
/// The probes of one segment.
struct ProbeLimits {
  std::int32_t at[most_probes];
  std::int32_t listed;  ///< 1: the shortlist has all that lies above them
};
}  // namespace detail

class CountAbove {
 public:
  explicit CountAbove(const Tiles& tiles);

  /// probes: [segments]; segments without any are not read, and when none has one nothing is launched. Waits for exec.
  /// With a shortlist of a, segments without a probe below its bound are counted in it.
  const std::vector<Counts>& run(const Exec& exec, const Tiles& tiles, const float* a,
                                 const std::vector<Probes>& probes, const Shortlist* shortlist = nullptr);

  index_t bytes() const;

 private:
  using Limits = detail::ProbeLimits;
  using Partial = detail::PerProbe<std::int32_t>;
  using Sums = detail::PerProbe<index_t>;

  Vector<Limits> m_limits;    ///< [segments]
  Vector<Partial> m_partial;  ///< [tiles] counts
  Vector<Sums> m_sums;        ///< [segments]
  std::vector<Limits> m_host_limits;
  std::vector<Sums> m_host_sums;
  std::vector<Counts> m_counts;
};

}  // namespace gradcomp::kernels
