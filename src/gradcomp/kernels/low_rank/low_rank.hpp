#pragma once
// The three products of PowerSGD (Vogels, Karimireddy, Jaggi, NeurIPS 2019, algorithm 1), for all matrices of a bucket
// in one launch each: P = M Q, Q = M^T P and P Q^T, rank <= 32. M is row-major inside the gradient; the thin factors
// are stored column after column, so that lanes run along them. Skinny products are bound by the one read of M, which a
// vendor's gemm (one call per matrix) would not fuse with the feedback.
//
// Sums have a fixed order for any number of threads: 32 lanes along a row; along a column, blocks of 128 rows, each in
// order, then block after block. No atomics.
#include <vector>

#include "gradcomp/core/source.hpp"
#include "gradcomp/core/tally.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"
#include "gradcomp/kernels/linear_algebra/orthogonalise.hpp"

namespace gradcomp::kernels {

/// One matrix of the bucket and where its factors lie.
struct Factored {
  index_t first;  ///< element of the bucket at row 0, column 0
  std::int32_t rows, columns, rank;
  index_t p, q;     ///< first elements of P [rank][rows] and Q [rank][columns] in their arrays
  index_t partial;  ///< first element of the block sums [blocks][rank][columns]
};

/// Which segments are factored, and their work lists; made once, in prepare().
class LowRankPlan {
 public:
  /// Factors the matrices whose factors are smaller than they are: r (rows + columns) < rows columns, with
  /// r = min(rank, rows, columns); min_rate times smaller, where one is given. All other segments are dense.
  LowRankPlan(const Layout& layout, int rank, double min_rate = 1);

  index_t p_count() const { return m_p; }          ///< floats of all P
  index_t q_count() const { return m_q; }          ///< floats of all Q
  index_t dense_count() const { return m_dense; }  ///< elements of all dense segments
  index_t scratch_bytes() const;

  const Vector<ColumnMatrix>& p_columns() const { return m_p_columns; }
  const Vector<ColumnMatrix>& q_columns() const { return m_q_columns; }
  const Vector<index_t>& ids() const { return m_ids; }

  /// First touch of the whole source: p = M Q, dense = the elements of dense segments. Adds the number of non-finite
  /// gradient elements to count(0). With a residual 2 reads and 1 write of n, otherwise 1 read.
  void project(const Exec& exec, const Source& source, const Span<const float>& q, const Span<float>& p,
               const Span<float>& dense, const Vector<index_t>& count) const;

  /// project() without the product: the first touch alone.
  void accumulate(const Exec& exec, const Source& source, const Span<float>& dense, const Vector<index_t>& count) const;
  /// The part of both that is about dense segments.
  void accumulate_dense(const Exec& exec, const Source& source, const Span<float>& dense,
                        const Vector<index_t>& count) const;

  /// q = M^T P. 1 read of n and 1/32 rank / 2 of writes and reads of block sums.
  void project_back(const Exec& exec, const Source& source, const Span<const float>& p, const Span<float>& q) const;

  /// Where `gate` is open, out = P Q^T (matrices) and share * dense; memory = a - out for matrices, 0 for dense
  /// elements.
  void reconstruct(const Exec& exec, const Source& source, const Span<const float>& p, const Span<const float>& q,
                   const Span<const float>& dense, float share, const Gate& gate, const Span<float>& out) const;

  /// Undoes what reconstruct() did to the memory: += out for matrices, += dense for dense elements.
  void give_back(const Exec& exec, const Span<const float>& out, const Span<const float>& dense, const Gate& gate,
                 float* memory) const;

  /// Rows [row, row + rows) of a matrix, and of some columns for project_back().
  struct Rows {
    std::int32_t matrix, row, rows, column, columns;
  };
  /// Elements of a dense segment.
  struct Dense {
    index_t first, position;
    std::int32_t count;
  };

 private:
  void add_matrix(const Segment& segment, int rank, std::vector<Factored>& matrices, std::vector<Rows>& tiles,
                  std::vector<Rows>& blocks);

  index_t m_p = 0, m_q = 0, m_dense = 0, m_partials = 0;
  Vector<Factored> m_matrices;
  Vector<Rows> m_tiles, m_blocks;
  Vector<Dense> m_dense_tiles;
  Vector<ColumnMatrix> m_p_columns, m_q_columns;
  Vector<index_t> m_ids;
  Vector<float> m_partial;
};

/// True when LowRankPlan factors a segment.
bool is_factored(const Segment& segment, int rank, double min_rate = 1);
/// min(rank, rows, columns)
index_t factor_rank(const Segment& segment, int rank);

}  // namespace gradcomp::kernels
