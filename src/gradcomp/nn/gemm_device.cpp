#include "gradcomp/nn/gemm_device.hpp"

#include "gradcomp/kernels/lanes.hpp"
#include "gradcomp/nn/gemm_blas.hpp"

namespace gradcomp::nn::device {

/// Forms one tile of one product with a team.
template <class T>
class TileProduct {
 public:
  static constexpr int tile = 32, depth = 16;
  static constexpr int side = 8, places = side * side, share = tile / side;
  /// A place is what one device thread works on; on a host one thread stands for all of them, with the same sums.
  static constexpr int team_threads = kernels::lanes_are_threads ? places : 1;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<places>>;
  using Member = typename Policy::member_type;
  /// One more column, so that neither direction of loading meets one bank of shared memory only.
  using Scratch = Kokkos::View<T[depth][tile + 1], Kokkos::LayoutRight, Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

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

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const index_t each = m_row_tiles * m_column_tiles;
    const index_t product = team.league_rank() / each, place = team.league_rank() % each;
    const index_t outer = product / m_inner, inner = product % m_inner;
    const index_t row = place / m_column_tiles * tile, column = place % m_column_tiles * tile;
    const Matrix<const T> a = m_a.at(outer, inner), b = m_b.at(outer, inner).transposed();
    const Matrix<T> c = m_c.at(outer, inner);
    const Scratch left(team.team_scratch(0)), right(team.team_scratch(0));
    T sums[places / team_threads][share][share];
    for (int p = team.team_rank(); p < places; p += team_threads) begin(c, row, column, p, sums[p / team_threads]);
    for (index_t first = 0; first < a.columns; first += depth) {
      for (int p = team.team_rank(); p < places; p += team_threads) {
        load(a, row, first, p, left);
        load(b, column, first, p, right);
      }
      team.team_barrier();
      for (int p = team.team_rank(); p < places; p += team_threads) multiply(left, right, p, sums[p / team_threads]);
      team.team_barrier();
    }
    for (int p = team.team_rank(); p < places; p += team_threads) store(c, row, column, p, sums[p / team_threads]);
  }

 private:
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

  /// to(k, r) = m(row + r, first + k), zeros outside.
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

template <class T>
void gemm_grid(const Exec& exec, index_t outer, index_t inner, const MatrixGrid<const T>& a,
               const MatrixGrid<const T>& b, const MatrixGrid<T>& c, const GemmStart<T>& start) {
  using Product = TileProduct<T>;
  const Product product(inner, a, b, c, start);
  const index_t teams = outer * inner * product.tiles();
  if (teams == 0) return;
  typename Product::Policy policy(exec, static_cast<int>(teams), Product::team_threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(2 * Product::Scratch::shmem_size()));
  Kokkos::parallel_for("gradcomp::nn::gemm_tiles", policy, product);
}

template <class T>
void gemm(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
          const GemmStart<T>& start) {
  if (blas::gemm<T>(exec, a, b, c, start)) return;
  gemm_grid<T>(exec, 1, 1, {a}, {b}, {c}, start);
}

#define GRADCOMP_INSTANTIATE(T)                                                                                     \
  template void gemm<T>(const Exec&, const Matrix<const T>&, const Matrix<const T>&, const Matrix<T>&,              \
                        const GemmStart<T>&);                                                                       \
  template void gemm_grid<T>(const Exec&, index_t, index_t, const MatrixGrid<const T>&, const MatrixGrid<const T>&, \
                             const MatrixGrid<T>&, const GemmStart<T>&);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn::device
