#pragma once
// Statistics of what lies above a threshold, for fits in several stages (SIDCo).
#include <vector>

#include "gradcomp/kernels/tiles.hpp"

namespace gradcomp::kernels {

/// Of the elements of a segment that were looked at.
struct Tail {
  index_t seen = 0;    ///< elements looked at
  index_t count = 0;   ///< of these, magnitude above the threshold
  double excess = 0;   ///< sum of |a| - threshold over them
  double squares = 0;  ///< sum of (|a| - threshold)^2
};

/// Segments below 2^20 elements are read in full. Larger ones every s-th row of 32, s = tiles / 128 up to 32, which
/// leaves at least 2^19 elements spread over all tiles: the relative error of a mean over a tail of share q is
/// 1 / sqrt(2^19 q), 1.4 % at q = .01, while a stage costs a twentieth of a sweep instead of a whole one.
class TailSums {
 public:
  explicit TailSums(const Tiles& tiles);

  /// thresholds: [segments]; negative: the segment is left out. Waits for exec.
  const std::vector<Tail>& run(const Exec& exec, const Tiles& tiles, const float* a,
                               const std::vector<float>& thresholds);

  index_t bytes() const;

 private:
  Vector<Tail> m_partial, m_result;
  Vector<float> m_thresholds;
  std::vector<Tail> m_host;
};

}  // namespace gradcomp::kernels
