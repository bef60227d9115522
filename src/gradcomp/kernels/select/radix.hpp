#pragma once
// The rank-th largest magnitude of many segments at once, by histograms of 2048 bins over an interval of bit patterns
// that shrinks to one of its bins at each pass: 31 bits take three passes, two leave 2^-14 of relative doubt. Exact
// whatever the data: ties, denormals, zeros.
#include "gradcomp/kernels/select/candidates.hpp"

namespace gradcomp::kernels {

namespace detail {
/// Tiles [begin, end) of one segment, which share a private histogram.
struct TileGroup {
  index_t begin, end;
  std::int32_t segment;
};
}  // namespace detail

class Radix {
 public:
  explicit Radix(const Tiles& tiles);

  enum class Target { sample, exact };  ///< whether SegmentSearch::sample_rank or SegmentSearch::rank is looked for

  /// Shrinks (low, high] of every segment with a rank around its rank-th largest value among `runs`, which must hold at
  /// least rank values above low; `above` counts the values above high. Others, and for `exact` open ones, stay as
  /// they are.
  void narrow(const Exec& exec, const Runs& runs, const Vector<SegmentSearch>& searches, Target target, int passes);

  static constexpr int passes_to_end = 3;

  index_t bytes() const;

 private:
  Vector<detail::TileGroup> m_groups;
  Vector<std::uint32_t> m_histogram;  ///< [segments][2048], zero between passes
};

}  // namespace gradcomp::kernels
