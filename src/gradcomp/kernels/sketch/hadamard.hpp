#pragma once
// Randomised Hadamard transform of the groups of a layout (RotatedGroup): y = H D a / sqrt(P), where D are random
// signs that all ranks share and H is the Walsh-Hadamard matrix of +-1. The transform is orthonormal. It spreads every
// element over its whole group, so that y is close to normally distributed for any a (Ailon & Chazelle, STOC 2006;
// DRIVE and THC use it in this way).
//
// Signs: bit i % 32 of word i / 32 negates element i of a group. A draw has four words and serves 128 elements; its
// counter is that of the first of them in the segment.
//
// A group is consecutive elements of a segment, padded with zeros to P elements: P = `length`, or for the last group of
// a segment the next power of two that is at least 32. A group is first multiplied by a power of two that brings its
// largest element close to 1, so that no sum overflows or is lost in denormals.
//
// Passes over n floats: 1 read of a (and 1 write with a residual), 1 write of y; log2 P additions per element, on hosts
// in cache, on devices in registers.
#include "gradcomp/core/layout.hpp"
#include "gradcomp/core/payload.hpp"
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

/// One group: `count` elements of the layout from `first` on, and `padded` elements of the work array from `work` on.
struct RotatedGroup {
  index_t first, work, element, segment_id;  ///< element: index of the first element in its segment
  std::int32_t count, padded;
};

/// Statistics of a group.
struct RotatedStats {
  float largest;                     ///< the largest |a|
  float most, sum_abs, sum_squares;  ///< of the magnitudes in the work array
  double unit;                       ///< the y for which the work array holds 1
};

/// The number of elements of the work array of a layout.
index_t padded_count(const Layout& layout, index_t length);

/// The transform of a layout and its work array, made in prepare().
class Rotation {
 public:
  /// `length` of groups: a power of two from 32 to 8192; throws Error for others.
  Rotation(const Layout& layout, index_t length);

  /// Forms a for the whole source, rotates it into work() and computes the statistics. Notes elements that are not
  /// finite; the statistics are then those of the others.
  void rotate(const Exec& exec, const Source& source, std::uint64_t seed, std::int64_t step, const Mark& mark) const;

  /// work() = D H work(), with the signs of (seed, step).
  void rotate_back(const Exec& exec, std::uint64_t seed, std::int64_t step) const;

  /// Reports to the source that receivers decode decoded(work, scales[group]).
  void report(const Exec& exec, const Source& source, const float* scales) const;

  /// If the payload is admitted (which another kernel counts), out += weight * decoded(work, scales[group]).
  void add(const Exec& exec, const float* scales, float weight, const Admission& admission,
           const Span<float>& out) const;

  /// The decoded value of an element of the work array: the product, clamped to +-2^127. It is finite for every finite
  /// scale, and so is its difference to an element of magnitude 2^126 or less.
  KOKKOS_FORCEINLINE_FUNCTION static float decoded(float work, float scale) {
    const float value = work * scale;
    return value < -0x1p127f ? -0x1p127f : value > 0x1p127f ? 0x1p127f : value;
  }

  const Vector<RotatedGroup>& groups() const { return m_groups; }
  const Vector<RotatedStats>& stats() const { return m_stats; }
  const Vector<float>& work() const { return m_work; }
  index_t bytes() const;

 private:
  index_t m_length;
  Vector<RotatedGroup> m_groups;
  Vector<RotatedStats> m_stats;
  Vector<float> m_work;  ///< [padded_count]
};

}  // namespace gradcomp::kernels
