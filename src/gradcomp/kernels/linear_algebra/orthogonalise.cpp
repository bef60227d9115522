#include "gradcomp/kernels/linear_algebra/orthogonalise.hpp"

#include "gradcomp/kernels/lanes/column_lanes.hpp"
#include "gradcomp/kernels/random/threefry.hpp"

namespace gradcomp::kernels {
namespace {

/// The sum of eight uniform 16-bit numbers, scaled to mean 0 and variance 1.
KOKKOS_FORCEINLINE_FUNCTION float nearly_normal(const Array4& draw) {
  const auto halves = [](std::uint32_t word) { return static_cast<std::int32_t>((word & 0xffffu) + (word >> 16)); };
  const std::int32_t sum = halves(draw.x0) + halves(draw.x1) + halves(draw.x2) + halves(draw.x3) - 4 * 65535;
  return static_cast<float>(sum) * (1.2247449f / 65536);  // sqrt(12 / 8)
}

}  // namespace

void orthogonalise(const Exec& exec, const Vector<ColumnMatrix>& matrices, const Span<float>& data) {
  for_warps(
      "gradcomp::kernels::orthogonalise", exec, static_cast<index_t>(matrices.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t m) {
        const ColumnMatrix matrix = matrices(m);
        float* const first = data.data() + matrix.offset;
        for (index_t k = 0; k < matrix.columns; ++k) {
          float* const x = first + k * matrix.rows;
          const double before = dot(warp, x, x, matrix.rows);
          for (index_t other = 0; other < 2 * k; ++other) {
            const float* const y = first + (other < k ? other : other - k) * matrix.rows;
            const double along = dot(warp, x, y, matrix.rows);
            each_element(warp, matrix.rows, [&](int, index_t i) {
              x[i] = static_cast<float>(static_cast<double>(x[i]) - along * static_cast<double>(y[i]));
            });
          }
          const double after = dot(warp, x, x, matrix.rows);
          const bool alive = after > dead_column * dead_column * before && after < 1e300;
          scale(warp, alive ? 1 / Kokkos::sqrt(after) : 0.0, x, x, matrix.rows);
        }
      });
}

void normalise_columns(const Exec& exec, const Vector<ColumnMatrix>& matrices, const Span<const float>& in,
                       const Mark& lost, const Span<float>& out) {
  for_warps(
      "gradcomp::kernels::normalise_columns", exec, static_cast<index_t>(matrices.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t m) {
        if (lost.is_set()) return;
        const ColumnMatrix matrix = matrices(m);
        for (index_t k = 0; k < matrix.columns; ++k) {
          const index_t at = matrix.offset + k * matrix.rows;
          const double squares = dot(warp, in.data() + at, in.data() + at, matrix.rows);
          scale(warp, squares > 1e-60 ? 1 / Kokkos::sqrt(squares) : 0.0, in.data() + at, out.data() + at, matrix.rows);
        }
      });
}

void refill_columns(const Exec& exec, const Vector<ColumnMatrix>& matrices, const Vector<index_t>& ids,
                    std::uint64_t seed, std::int64_t step, const Span<float>& data) {
  for_warps(
      "gradcomp::kernels::refill_columns", exec, static_cast<index_t>(matrices.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t m) {
        const ColumnMatrix matrix = matrices(m);
        const Array4 key = stream_key(seed, ids(m), step, every_rank);
        for (index_t k = 0; k < matrix.columns; ++k) {
          float* const x = data.data() + matrix.offset + k * matrix.rows;
          if (dot(warp, x, x, matrix.rows) > 0) continue;
          each_element(warp, matrix.rows, [&](int, index_t i) {
            const Array4 counter = stream_counter(i, random_stream::low_rank, static_cast<std::uint32_t>(k));
            x[i] = nearly_normal(threefry4x32_12(key, counter));
          });
        }
      });
}

}  // namespace gradcomp::kernels
