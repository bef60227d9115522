#pragma once
// The three products of PowerSGD (Vogels, Karimireddy, Jaggi, NeurIPS 2019, algorithm 1), each for all matrices of a
// bucket in one launch: P = M Q, Q = M^T P and P Q^T, with ranks up to 32. M is row-major inside the gradient. The thin
// factors are stored column after column, so that lanes run along them. Products with thin factors are limited by the
// one read of M, which the gemm of a vendor (one call per matrix) could not fuse with the feedback.
//
// Sums have a fixed order for any number of threads: 32 lanes along a row; along a column, first the rows of each block
// of 128 rows, in order, then the blocks. There are no atomics.
#include <vector>

#include "gradcomp/core/payload.hpp"
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"
#include "gradcomp/kernels/linear_algebra/orthogonalise.hpp"

namespace gradcomp::kernels {

/// One matrix of the bucket, and where its factors are.
struct Factored {
  index_t first;  ///< element of the bucket at row 0, column 0
  std::int32_t rows, columns, rank;
  index_t p, q;     ///< first elements of P [rank][rows] and Q [rank][columns] in their arrays
  index_t partial;  ///< first element of the block sums [blocks][rank][columns]
};

/// The segments that are factored, and their work lists; made once, in prepare().
class LowRankPlan {
 public:
  /// Factors the matrices with min_rate r (rows + columns) < rows columns, where r = min(rank, rows, columns): their
  /// factors are more than min_rate times smaller than the matrix. All other segments are dense. Throws Error if a
  /// matrix has 2^31 rows or columns.
  LowRankPlan(const Layout& layout, int rank, double min_rate = 1);

  index_t p_count() const { return m_p; }          ///< floats of all P
  index_t q_count() const { return m_q; }          ///< floats of all Q
  index_t dense_count() const { return m_dense; }  ///< elements of all dense segments
  index_t scratch_bytes() const;

  const Vector<ColumnMatrix>& p_columns() const { return m_p_columns; }
  const Vector<ColumnMatrix>& q_columns() const { return m_q_columns; }
  const Vector<index_t>& ids() const { return m_ids; }

  /// The first pass over the whole source: p = M Q, dense = the elements of dense segments. Notes elements that are
  /// not finite. Takes 2 reads and 1 write of n floats with a residual, otherwise 1 read.
  void project(const Exec& exec, const Source& source, const Span<const float>& q, const Span<float>& p,
               const Span<float>& dense, const Mark& mark) const;

  /// project() without the product.
  void accumulate(const Exec& exec, const Source& source, const Span<float>& dense, const Mark& mark) const;
  /// What project() and accumulate() do for dense segments.
  void accumulate_dense(const Exec& exec, const Source& source, const Span<float>& dense, const Mark& mark) const;

  /// q = M^T P. Takes 1 read of n floats, and writes and reads rank / 128 floats of block sums per element.
  void project_back(const Exec& exec, const Source& source, const Span<const float>& p, const Span<float>& q) const;

  /// Unless `lost` is set, out = P Q^T for matrices and share * dense for dense elements. The memory becomes a - out
  /// for matrices and 0 for dense elements.
  void reconstruct(const Exec& exec, const Source& source, const Span<const float>& p, const Span<const float>& q,
                   const Span<const float>& dense, float share, const Mark& lost, const Span<float>& out) const;

  /// Rows [row, row + rows) of a matrix; for project_back() only the columns [column, column + columns).
  struct Rows {
    std::int32_t matrix, row, rows, column, columns;
  };
  /// `count` elements of a dense segment: from `first` in the bucket, and from `position` in the array of dense
  /// elements.
  struct Dense {
    index_t first, position;
    std::int32_t count;
  };
  /// Up to 32 elements of the Q of a matrix, of which project_back() adds the block sums: `first` and those that
  /// follow.
  struct Sums {
    std::int32_t matrix;
    index_t first;
  };

 private:
  void add_matrix(const Segment& segment, int rank, std::vector<Factored>& matrices, std::vector<Rows>& tiles,
                  std::vector<Rows>& blocks);

  index_t m_p = 0, m_q = 0, m_dense = 0, m_partials = 0;
  Vector<Factored> m_matrices;
  Vector<Rows> m_tiles, m_blocks;
  Vector<Sums> m_sums;
  Vector<Dense> m_dense_tiles;
  Vector<ColumnMatrix> m_p_columns, m_q_columns;
  Vector<index_t> m_ids;
  Vector<float> m_partial;
};

/// Whether LowRankPlan factors this segment.
bool is_factored(const Segment& segment, int rank, double min_rate = 1);
/// The number of columns of its factors: min(rank, rows, columns).
index_t factor_rank(const Segment& segment, int rank);

}  // namespace gradcomp::kernels
