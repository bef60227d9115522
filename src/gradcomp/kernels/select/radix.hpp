#pragma once
// Finds the rank-th largest magnitude of many segments at once, by histograms of 2048 bins over an interval of bit
// patterns. Each pass shrinks the interval to one of its bins: 31 bits take three passes, and two passes leave a
// relative uncertainty of 2^-14. The result is exact for all data, also with ties, denormals and zeros.
#include "gradcomp/kernels/select/candidates.hpp"

namespace gradcomp::kernels {

class Radix {
 public:
  explicit Radix(const Tiles& tiles);

  enum class Target { sample, exact };  ///< whether to find SegmentSearch::sample_rank or SegmentSearch::rank

  /// Shrinks (low, high] of every segment with a rank around its rank-th largest value in `runs`, which must hold at
  /// least `rank` values above `low`. `above` becomes the number of values above `high`, `inside` that of those in
  /// (low, high]; with `exact`, a segment with `enough` inside is narrowed no more. Other segments, and with `exact`
  /// open segments, stay as they are. `host_looks`: as Context::host_looks; passes that no segment needs are then left
  /// out.
  void narrow(const Exec& exec, const Tiles& tiles, const Runs& runs, const Vector<SegmentSearch>& searches,
              Target target, int passes, bool host_looks = false);

  static constexpr int passes_to_end = 3;

  index_t bytes() const;

 private:
  TileGroups m_groups;                ///< tiles that share a private histogram
  Vector<std::uint32_t> m_histogram;  ///< [segments][2048], zero between passes
};

}  // namespace gradcomp::kernels
