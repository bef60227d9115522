#pragma once
// The inner loops of kernels/low_rank/low_rank.cpp. They handle 4, 2 or 1 columns of the factors at a time, unrolled:
// rank 4 costs one sweep over a row of M, and rank 32 eight sweeps over a row that is in the first-level cache.
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/note.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"
#include "gradcomp/kernels/low_rank/low_rank.hpp"

namespace gradcomp::kernels {

/// How many columns of M one warp sums at a time. On a host they are as many as most matrices have, so that rows are
/// read to their ends (a stream that ends after 2 KiB gets half the bandwidth). On a device they take one register per
/// lane and rank.
inline constexpr int panels = lanes_are_threads ? 1 : 256;
inline constexpr index_t panel_columns = panels * warp_lanes;

/// Elements of a matrix that are multiplied while they are in the first-level cache.
inline constexpr index_t part_elements = 512;

/// How many of the `left` rows of a matrix are handled together: as many as fit into a part, but at least one.
KOKKOS_FORCEINLINE_FUNCTION std::int32_t rows_together(std::int32_t columns, std::int32_t left) {
  const std::int32_t fit = columns < part_elements ? static_cast<std::int32_t>(part_elements) / columns : 1;
  return fit < left ? fit : left;
}

/// How many of the `left` columns of the factors are handled next.
KOKKOS_FORCEINLINE_FUNCTION constexpr std::int32_t rank_chunk(std::int32_t left) {
  return left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

/// y += x
KOKKOS_FORCEINLINE_FUNCTION void add_elements(const Warp& warp, index_t count, const float* x, float* y) {
  each_element(warp, count, [&](int, index_t e) { y[e] += x[e]; });
}

/// The products of a row a of the matrix with columns k < Ranks of Q, which grow as elements are added.
template <int Ranks>
struct RowProducts {
  const float* q;
  index_t columns;
  Lanes<float> sum[Ranks];

  KOKKOS_FORCEINLINE_FUNCTION RowProducts(const Warp& warp, const float* factors, index_t stride)
      : q(factors), columns(stride) {
    for (int k = 0; k < Ranks; ++k) warp.each([&](int l) { sum[k][l] = 0; });
  }

  /// Adds elements begin .. begin + count - 1, where `begin` is a multiple of 32. `finite` says that a is finite;
  /// otherwise elements that are not finite count as 0.
  KOKKOS_FORCEINLINE_FUNCTION void add(const Warp& warp, const float* a, bool finite, index_t begin, index_t count) {
    const float *const x = a + begin, *const factors = q + begin;
    const auto multiply = [&](int l, float value, index_t e) {
      GRADCOMP_UNROLL
      for (int k = 0; k < Ranks; ++k) sum[k][l] += value * factors[k * columns + e];
    };
    if (finite) {
      each_element<4>(warp, count, [&](int l, index_t e) { multiply(l, x[e], e); });
    } else {
      each_element<4>(warp, count, [&](int l, index_t e) { multiply(l, Source::is_finite(x[e]) ? x[e] : 0.0f, e); });
    }
  }

  /// p[k rows] = the product with column k.
  KOKKOS_FORCEINLINE_FUNCTION void store(const Warp& warp, float* p, index_t rows) const {
    for (int k = 0; k < Ranks; ++k) {
      const float total = warp.sum(sum[k]);
      warp.once([&] { p[k * rows] = total; });
    }
  }
};

/// p[k][row] for Ranks columns from k on and one row of the matrix. touch(begin, count) is called for elements before
/// they are read.
template <int Ranks, class Touch>
KOKKOS_FORCEINLINE_FUNCTION void project_row_ranks(const Warp& warp, const Source& source, const Factored& m,
                                                   std::int32_t row, std::int32_t k, const float* q, float* p,
                                                   const Touch& touch) {
  const float* const a = source.accumulated() + m.first + static_cast<index_t>(row) * m.columns;
  const bool finite = source.kind != Source::Kind::none;  // memories are finite
  RowProducts<Ranks> products(warp, q + static_cast<index_t>(k) * m.columns, m.columns);
  for (index_t e = 0; e < m.columns; e += part_elements) {
    const index_t count = m.columns - e < part_elements ? m.columns - e : part_elements;
    touch(e, count);
    products.add(warp, a, finite, e, count);
  }
  products.store(warp, p + static_cast<index_t>(k) * m.rows + row, m.rows);
}

/// p[k][row] for all columns k and one row of the matrix. touch(begin, count) is called once for every element, before
/// it is read.
template <class Touch>
KOKKOS_FORCEINLINE_FUNCTION void project_row(const Warp& warp, const Source& source, const Factored& m,
                                             std::int32_t row, const float* q, float* p, const Touch& touch) {
  const auto again = [](index_t, index_t) {};
  std::int32_t k = rank_chunk(m.rank);
  if (k == 4) project_row_ranks<4>(warp, source, m, row, 0, q, p, touch);
  if (k == 2) project_row_ranks<2>(warp, source, m, row, 0, q, p, touch);
  if (k == 1) project_row_ranks<1>(warp, source, m, row, 0, q, p, touch);
  for (std::int32_t ranks = 0; k < m.rank; k += ranks) {
    ranks = rank_chunk(m.rank - k);
    if (ranks == 4) project_row_ranks<4>(warp, source, m, row, k, q, p, again);
    if (ranks == 2) project_row_ranks<2>(warp, source, m, row, k, q, p, again);
    if (ranks == 1) project_row_ranks<1>(warp, source, m, row, k, q, p, again);
  }
}

/// Sums over the rows of one block: out[k][j] = sum_i a[i][j] factor[k][i], with the rows in order.
struct ColumnSums {
  const float* a;
  index_t stride;  ///< between rows of a, and between columns of the sums
  const float* factor;
  index_t factor_stride;  ///< between columns of the factor
  std::int32_t rows, columns;

  /// Where the sums of panel j are: on a device at a constant, so that they stay in registers.
  static KOKKOS_FORCEINLINE_FUNCTION int panel(int j) { return panels == 1 ? 0 : j; }

  template <int Ranks>
  KOKKOS_FORCEINLINE_FUNCTION void run_ranks(const Warp& warp, float* out) const {
    Lanes<float> sum[panels][Ranks];
    for (int k = 0; k < Ranks; ++k) {
      for (int j = 0; j * warp_lanes < columns; ++j) warp.each([&](int l) { sum[panel(j)][k][l] = 0; });
    }
    std::int32_t i = 0;
    for (; i + Ranks <= rows; i += Ranks) add_rows<Ranks, Ranks>(warp, i, sum);
    for (; i < rows; ++i) add_rows<Ranks, 1>(warp, i, sum);
    for (int k = 0; k < Ranks; ++k) {
      for (int j = 0; j * warp_lanes < columns; ++j)
        store_row(warp, out + k * stride + j * warp_lanes, columns - j * warp_lanes, sum[panel(j)][k]);
    }
  }

  /// Adds several rows at once. With more rows, the sums are loaded and stored less often, but there are more streams
  /// from memory; we take as many rows as ranks. The order of additions is that of one row at a time.
  template <int Ranks, int Rows>
  KOKKOS_FORCEINLINE_FUNCTION void add_rows(const Warp& warp, std::int32_t i,
                                            Lanes<float> (&sum)[panels][Ranks]) const {
    float f[Ranks][Rows];
    for (int k = 0; k < Ranks; ++k)
      for (int r = 0; r < Rows; ++r) f[k][r] = factor[k * factor_stride + i + r];
    const float* const row = a + i * stride;
    int j = 0;
    for (; (j + 1) * warp_lanes <= columns; ++j) {
      GRADCOMP_UNROLL
      for (int r = 0; r < Rows; ++r) prefetch_rows<1>(row + r * stride + j * warp_lanes);
      warp.each([&](int l) { add_column<Ranks, Rows>(f, row + j * warp_lanes + l, l, j, sum); });
    }
    warp.each([&](int l) {
      if (j * warp_lanes + l < columns) add_column<Ranks, Rows>(f, row + j * warp_lanes + l, l, j, sum);
    });
  }

  /// Adds Rows elements of one column.
  template <int Ranks, int Rows>
  KOKKOS_FORCEINLINE_FUNCTION void add_column(const float (&f)[Ranks][Rows], const float* x, int l, int j,
                                              Lanes<float> (&sum)[panels][Ranks]) const {
    GRADCOMP_UNROLL
    for (int k = 0; k < Ranks; ++k) {
      float s = sum[panel(j)][k][l];
      GRADCOMP_UNROLL
      for (int r = 0; r < Rows; ++r) s += x[r * stride] * f[k][r];
      sum[panel(j)][k][l] = s;
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void run(const Warp& warp, std::int32_t ranks, float* out) const {
    if (ranks == 4) run_ranks<4>(warp, out);
    if (ranks == 2) run_ranks<2>(warp, out);
    if (ranks == 1) run_ranks<1>(warp, out);
  }
};

/// at(j) = the sum over Ranks columns k of p[k][row] q[k][j], with the columns in order.
template <int Ranks>
struct Expansion {
  float factor[Ranks];
  const float* q;
  index_t stride;

  KOKKOS_FORCEINLINE_FUNCTION Expansion(const float* p, index_t p_stride, const float* columns, index_t q_stride)
      : q(columns), stride(q_stride) {
    for (int k = 0; k < Ranks; ++k) factor[k] = p[k * p_stride];
  }
  KOKKOS_FORCEINLINE_FUNCTION float at(index_t j) const {
    float sum = 0;
    for (int k = 0; k < Ranks; ++k) sum += factor[k] * q[k * stride + j];
    return sum;
  }
};

/// One row of out = P Q^T with rank Ranks; memory = a - out.
template <int Ranks>
KOKKOS_FORCEINLINE_FUNCTION void reconstruct_row_ranks(const Warp& warp, const Source& source, const Factored& m,
                                                       std::int32_t row, const float* p, const float* q, float* out) {
  const index_t begin = m.first + static_cast<index_t>(row) * m.columns, stride = m.columns;
  const index_t whole = stride / warp_lanes * warp_lanes;
  const Expansion<Ranks> expansion(p + row, m.rows, q, stride);
  float* const target = out + begin;
  for_parts(target, whole, [&](index_t first, index_t size) {
    if (source.has_memory()) prefetch_rows<group_rows>(source.memory + begin + first);
    send_rows<2>(warp, source, begin + first, size, [&](int l, float, int r) {
      const index_t j = first + r * warp_lanes + l;
      return target[j] = expansion.at(j);
    });
  });
  send_rows<2>(warp, source, begin + whole, stride - whole, [&](int l, float, int) {
    return whole + l < stride ? target[whole + l] = expansion.at(whole + l) : 0.0f;
  });
}

/// One row of out = P Q^T; memory = a - out. With ranks other than 1, 2 and 4, the sum is first formed in `out`.
KOKKOS_FORCEINLINE_FUNCTION void reconstruct_row(const Warp& warp, const Source& source, const Factored& m,
                                                 std::int32_t row, const float* p, const float* q, float* out) {
  if (m.rank == 4) return reconstruct_row_ranks<4>(warp, source, m, row, p, q, out);
  if (m.rank == 2) return reconstruct_row_ranks<2>(warp, source, m, row, p, q, out);
  if (m.rank == 1) return reconstruct_row_ranks<1>(warp, source, m, row, p, q, out);
  const index_t begin = m.first + static_cast<index_t>(row) * m.columns, stride = m.columns;
  float* const target = out + begin;
  for (std::int32_t k = 0; k < m.rank; ++k) {
    const float factor = p[static_cast<index_t>(k) * m.rows + row];
    const float* const x = q + k * stride;
    for (index_t j = 0; j < stride; j += warp_lanes) {
      warp.each([&](int l) {
        if (j + l < stride) target[j + l] = (k == 0 ? 0.0f : target[j + l]) + factor * x[j + l];
      });
    }
  }
  send_rows<2>(warp, source, begin, stride, [&](int l, float, int r) {
    const index_t j = r * warp_lanes + l;
    return j < stride ? target[j] : 0.0f;
  });
}

}  // namespace gradcomp::kernels
