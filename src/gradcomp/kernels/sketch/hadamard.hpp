#pragma once
// Randomised Hadamard transform of the buckets of a layout: y = H D a / sqrt(P), with D random signs that all ranks
// share and H the Walsh-Hadamard matrix of +-1. Orthonormal; spreads every element over its whole bucket, so that y is
// close to normal whatever a is (Ailon & Chazelle, STOC 2006; as DRIVE and THC use it).
//
// Buckets are consecutive elements of a segment, padded with zeros to P: `length`, or for the last bucket of a segment
// the next power of two, 32 at least. A bucket is first multiplied with a power of two that brings its largest element
// close to 1, so that no sum overflows or is lost in denormals.
//
// Bytes: 1 read of a (and 1 write with a residual), 1 write of y; log2 P additions per element, in cache.
#include "gradcomp/core/layout.hpp"
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

/// x = H x in place, H unnormalised, on one warp; `count` a power of two from 32 on.
KOKKOS_INLINE_FUNCTION void walsh_hadamard(const Warp& warp, float* x, index_t count) {
  constexpr int square = warp_lanes * warp_lanes;
  for (index_t block = 0; block < count; block += square) {  // the five low bits of the index: lanes become rows
    const index_t rows = count - block < square ? (count - block) / warp_lanes : warp_lanes;
    float* const from = x + block;
    Lanes<float> v[warp_lanes];
    for (int j = 0; j < warp_lanes; ++j) {
      warp.each([&](int l) { v[j][l] = l < rows ? from[l * warp_lanes + j] : 0.0f; });
    }
    for (int half = 1; half < warp_lanes; half *= 2) {
      for (int j = 0; j < warp_lanes; ++j) {
        if ((j & half) != 0) continue;
        warp.each([&](int l) {
          const float low = v[j][l], high = v[j + half][l];
          v[j][l] = low + high;
          v[j + half][l] = low - high;
        });
      }
    }
    for (int j = 0; j < warp_lanes; ++j) {
      warp.each([&](int l) {
        if (l < rows) from[l * warp_lanes + j] = v[j][l];
      });
    }
  }
  for (index_t half = warp_lanes; half < count; half *= 2) {
    for (index_t i = 0; i < count; i += 2 * half) {
      for (index_t row = i; row < i + half; row += warp_lanes) {
        float *const low = x + row, *const high = low + half;
        Lanes<float> sum, difference;
        warp.each([&](int l) {
          sum[l] = low[l] + high[l];
          difference[l] = low[l] - high[l];
        });
        warp.each([&](int l) {
          low[l] = sum[l];
          high[l] = difference[l];
        });
      }
    }
  }
}

/// One bucket: `count` elements from `first` on in the layout, `padded` of them from `work` on in the work array.
struct RotatedBucket {
  index_t first, work, element, segment_id;  ///< element: index of the first one in its segment
  std::int32_t count, padded;
};

/// Statistics of a bucket.
struct RotatedStats {
  float largest;                     ///< |a|
  float most, sum_abs, sum_squares;  ///< of the work array
  double unit;                       ///< y of 1 in the work array
};

/// Elements of the work array of a layout.
index_t padded_count(const Layout& layout, index_t length);

/// The transform of a layout and its work array, made in prepare().
class Rotation {
 public:
  /// `length` of buckets: a power of two of 32 .. 8192.
  Rotation(const Layout& layout, index_t length);

  /// Forms a for the whole source, rotates it into work() and takes its statistics. Counts non-finite gradient
  /// elements, with which they mean nothing.
  void rotate(const Exec& exec, const Source& source, std::uint64_t seed, std::int64_t step,
              const Tally& non_finite) const;

  /// work() = D H work(), with the signs of (seed, step).
  void rotate_back(const Exec& exec, std::uint64_t seed, std::int64_t step) const;

  /// Tells the source that receivers decode decoded(work, scales[bucket]), where `gate` is open.
  void report(const Exec& exec, const Source& source, const float* scales, const Gate& gate) const;

  /// out += weight * decoded(work, scales[bucket]) where `gate` is open.
  void add(const Exec& exec, const float* scales, float weight, const Gate& gate, const Span<float>& out) const;

  /// Finite for every finite scale, and so is its difference to an element of magnitude 2^126 at most.
  KOKKOS_FORCEINLINE_FUNCTION static float decoded(float work, float scale) {
    const float value = work * scale;
    return value < -0x1p127f ? -0x1p127f : value > 0x1p127f ? 0x1p127f : value;
  }

  const Vector<RotatedBucket>& buckets() const { return m_buckets; }
  const Vector<RotatedStats>& stats() const { return m_stats; }
  const Vector<float>& work() const { return m_work; }
  index_t bytes() const;

 private:
  Vector<RotatedBucket> m_buckets;
  Vector<RotatedStats> m_stats;
  Vector<float> m_work;  ///< [padded_count]
};

}  // namespace gradcomp::kernels
