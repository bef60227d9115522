#pragma once
// The kernel of gemm_device.hpp. A team computes 32 x 32 elements of a product from tiles in its scratch memory, which
// it loads along the direction that is contiguous. A place is the 4 x 4 elements that one thread of a device computes.
// If a team has fewer threads than places, each thread takes several places, with the same sums in the same order.
#include "gradcomp/kernels/lanes/teams.hpp"
#include "gradcomp/nn/gemm/gemm.hpp"

namespace gradcomp::nn::device {

/// Computes one tile of one product with a team.
template <class T, int team_threads>
class TileProduct {
 public:
  static constexpr int tile = 32, depth = 16;
  static constexpr int side = 8, places = side * side, share = tile / side;
  static_assert(places % team_threads == 0);
  using Team = kernels::Team;
  /// The additional column avoids that all accesses in one direction of loading go to the same bank of shared memory.
  using Scratch = kernels::TeamArray<T[depth][tile + 1]>;

  TileProduct(index_t inner, const MatrixGrid<const T>& a, const MatrixGrid<const T>& b, const MatrixGrid<T>& c,
              const GemmStart<T>& start)
      : m_inner(inner),
        m_row_tiles((c.first.rows + tile - 1) / tile),
        m_column_tiles((c.first.columns + tile - 1) / tile),
        m_a(a),
        m_b(b),
        m_c(c),
        m_start(start) {}

  index_t tiles() const { return m_row_tiles * m_column_tiles; }

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const index_t each = m_row_tiles * m_column_tiles;
    const index_t product = team.league_rank() / each, place = team.league_rank() % each;
    const index_t outer = product / m_inner, inner = product % m_inner;
    const index_t row = place / m_column_tiles * tile, column = place % m_column_tiles * tile;
    const Matrix<const T> a = m_a.at(outer, inner), b = m_b.at(outer, inner).transposed();
    const Matrix<T> c = m_c.at(outer, inner);
    const Scratch left(team.team_scratch(0)), right(team.team_scratch(0));
    T sums[each_thread][share][share];
    for (int n = 0; n < each_thread; ++n) begin(c, row, column, place_of(team, n), sums[n]);
    for (index_t first = 0; first < a.columns; first += depth) {
      for (int n = 0; n < each_thread; ++n) {
        load(a, row, first, place_of(team, n), left);
        load(b, column, first, place_of(team, n), right);
      }
      team.team_barrier();
      for (int n = 0; n < each_thread; ++n) multiply(left, right, place_of(team, n), sums[n]);
      team.team_barrier();
    }
    for (int n = 0; n < each_thread; ++n) store(c, row, column, place_of(team, n), sums[n]);
  }

 private:
  static constexpr int each_thread = places / team_threads;  ///< places per thread

  static KOKKOS_INLINE_FUNCTION int place_of(const Team& team, int n) { return team.team_rank() + n * team_threads; }

  KOKKOS_INLINE_FUNCTION void begin(const Matrix<T>& c, index_t row, index_t column, int p,
                                    T (&sums)[share][share]) const {
    for (int i = 0; i < share; ++i) {
      for (int j = 0; j < share; ++j) {
        const index_t y = row + p / side + i * side, x = column + p % side + j * side;
        const bool inside = y < c.rows && x < c.columns;
        sums[i][j] = inside && m_start.add ? c(y, x) : inside && m_start.bias != nullptr ? m_start.bias[x] : T(0);
      }
    }
  }

  /// Sets to(k, r) = m(row + r, first + k), or 0 outside m.
  static KOKKOS_INLINE_FUNCTION void load(const Matrix<const T>& m, index_t row, index_t first, int p,
                                          const Scratch& to) {
    for (int e = p; e < tile * depth; e += places) {
      const bool along_rows = m.column_step == 1;
      const int k = along_rows ? e % depth : e / tile, r = along_rows ? e / depth : e % tile;
      to(k, r) = row + r < m.rows && first + k < m.columns ? m(row + r, first + k) : T(0);
    }
  }

  static KOKKOS_INLINE_FUNCTION void multiply(const Scratch& left, const Scratch& right, int p,
                                              T (&sums)[share][share]) {
    for (int k = 0; k < depth; ++k) {
      T y[share], x[share];
      for (int i = 0; i < share; ++i) y[i] = left(k, p / side + i * side);
      for (int j = 0; j < share; ++j) x[j] = right(k, p % side + j * side);
      for (int i = 0; i < share; ++i) {
        for (int j = 0; j < share; ++j) sums[i][j] += y[i] * x[j];
      }
    }
  }

  static KOKKOS_INLINE_FUNCTION void store(const Matrix<T>& c, index_t row, index_t column, int p,
                                           const T (&sums)[share][share]) {
    for (int i = 0; i < share; ++i) {
      for (int j = 0; j < share; ++j) {
        const index_t y = row + p / side + i * side, x = column + p % side + j * side;
        if (y < c.rows && x < c.columns) c(y, x) = sums[i][j];
      }
    }
  }

  index_t m_inner, m_row_tiles, m_column_tiles;
  MatrixGrid<const T> m_a, m_b;
  MatrixGrid<T> m_c;
  GemmStart<T> m_start;
};

/// c = a b + start for each of the outer x inner matrices, by teams of `team_threads`. Every number that divides 64
/// gives the same bits.
template <class T, int team_threads = kernels::lanes_are_threads ? 64 : 1>
void multiply_tiles(const Exec& exec, index_t outer, index_t inner, const MatrixGrid<const T>& a,
                    const MatrixGrid<const T>& b, const MatrixGrid<T>& c, const GemmStart<T>& start) {
  using Product = TileProduct<T, team_threads>;
  const Product product(inner, a, b, c, start);
  const index_t teams = outer * inner * product.tiles();
  if (teams == 0) return;
  kernels::for_teams<team_threads>("gradcomp::nn::gemm_tiles", exec, teams, 2 * Product::Scratch::shmem_size(),
                                   product);
}

}  // namespace gradcomp::nn::device
