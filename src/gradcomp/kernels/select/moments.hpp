#pragma once
// The first pass of a sparsifier forms a, and finds statistics and a sample of every segment, in one sweep (2 reads and
// 1 write of n floats with a residual, 1 read without).
#include <vector>

#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"
#include "gradcomp/kernels/select/candidates.hpp"

namespace gradcomp::kernels {

/// What FirstPass finds beside nonzeros, non_finite, max_bits and candidates; each level includes those before it. What
/// is not asked for stays 0: on a host, the pass is bound by its instructions.
enum class Statistics {
  largest,     ///< nothing else
  magnitudes,  ///< sum_abs and sum_squares
  sums,        ///< sum
  logs         ///< sum_logs
};

/// Statistics of a = Source::accumulate(). Sums are formed in float lanes inside a tile, and over tiles in double in a
/// fixed order.
struct Moments {
  double sum = 0;          ///< of a with its sign; the others are of |a|
  double sum_abs = 0;      ///< infinite if a tile's sum overflows: never if all |a| <= 8.3e34
  double sum_squares = 0;  ///< may overflow above |a| = 2.8e17 and underflow below 1e-19
  index_t nonzeros = 0;
  index_t non_finite = 0;     ///< gradient elements that were not finite (or overflowed their memory)
  std::int32_t max_bits = 0;  ///< magnitude() of the largest element
  double sum_logs = 0;        ///< of ln |a| over the nonzeros
  index_t candidates = 0;     ///< elements above the collector's bound

  KOKKOS_FORCEINLINE_FUNCTION friend Moments operator+(const Moments& x, const Moments& y) {
    return {x.sum + y.sum,           x.sum_abs + y.sum_abs,       x.sum_squares + y.sum_squares,
            x.nonzeros + y.nonzeros, x.non_finite + y.non_finite, Kokkos::max(x.max_bits, y.max_bits),
            x.sum_logs + y.sum_logs, x.candidates + y.candidates};
  }
};

namespace detail {
/// Statistics of one tile.
struct TileMoments {
  float sum, sum_abs, sum_squares;
  std::int32_t nonzeros, non_finite, max_bits;
  double sum_logs;
  std::int32_t candidates;
};
}  // namespace detail

/// The pass and its work space, made in prepare().
class FirstPass {
 public:
  FirstPass(const Tiles& tiles, Statistics wanted);

  /// Forms a for the whole source, its statistics and sample, and collects for `collector`.
  void launch(const Exec& exec, const Tiles& tiles, const Source& source, const Collector& collector = {});
  /// [segments], from the last launch().
  const Vector<Moments>& on_device() const { return m_moments; }
  /// Non-finite elements in all segments of the last launch(). Only for builds where the host reads device memory.
  index_t seen_non_finite() const;

  /// launch(), and copies the statistics to the host. Waits for exec.
  void run(const Exec& exec, const Tiles& tiles, const Source& source, const Collector& collector = {});
  /// [segments], from the last run().
  const std::vector<Moments>& moments() const { return m_host; }
  /// Non-finite elements in all segments of the last run().
  index_t non_finite() const;

  /// The sample: 32 values of a from each tile, at warp_lanes * tile. They are one row of the tile; its place differs
  /// from tile to tile, so that periodic data does not alias. A tile with fewer than 32 elements gives all of them.
  const Vector<float>& sample() const { return m_sample; }

  index_t bytes() const;

 private:
  Statistics m_wanted;
  Vector<detail::TileMoments> m_partial;
  Vector<Moments> m_moments;
  Vector<float> m_sample;
  std::vector<Moments> m_host;
};

/// The elements [first, first + size) of a tile that are in the sample.
struct SampleRow {
  std::int32_t first, size;
};
/// The sampled row of tile `t`, which has `count` elements.
KOKKOS_INLINE_FUNCTION SampleRow sample_row(index_t t, std::int32_t count) {
  constexpr std::int32_t row = 32;
  if (count < row) return {0, count};
  const auto hash = static_cast<std::uint32_t>(t) * 0x9e3779b1u >> 16;  // Knuth's multiplicative hash
  return {static_cast<std::int32_t>(hash % static_cast<std::uint32_t>(count / row)) * row, row};
}

}  // namespace gradcomp::kernels
