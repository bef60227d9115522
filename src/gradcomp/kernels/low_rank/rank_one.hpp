#pragma once
// Matrices as sums of rank-one terms: the products that a decomposition with the Gram matrix of the short side needs,
// each for all matrices of a bucket in one launch. With eigenvectors u_i of M M^T (or M^T M), the terms u_i (u_i^T M)
// add up to M. This holds for all orthonormal u_i, so errors of the eigenvectors do not matter.
#include <vector>

#include "gradcomp/kernels/linear_algebra/jacobi.hpp"

namespace gradcomp::kernels {

/// A matrix inside a flat array, row after row.
struct StoredMatrix {
  index_t first;
  std::int32_t rows, columns;

  KOKKOS_INLINE_FUNCTION bool is_wide() const { return rows <= columns; }  ///< short_side() is `rows`
  KOKKOS_INLINE_FUNCTION std::int32_t short_side() const { return is_wide() ? rows : columns; }
  KOKKOS_INLINE_FUNCTION std::int32_t long_side() const { return is_wide() ? columns : rows; }
  /// Floats of a stored term: its weight, then its column vector and its row vector.
  KOKKOS_INLINE_FUNCTION index_t term() const { return index_t{1} + rows + columns; }
};

/// A term to be made from eigenvector u, number `vector`, of a matrix: the weight, u and u^T M / sigma, where sigma is
/// the singular value.
struct RankOneTerm {
  std::int32_t matrix, vector;
  float weight;
  double inverse_sigma;
  index_t position;  ///< of the first float of the term
};

/// The terms of one matrix to be added: `count` terms from float `position` on.
struct RankOneTerms {
  index_t position;
  index_t count;
};

/// The matrices and their work lists; made once.
class RankOnePlan {
 public:
  explicit RankOnePlan(const std::vector<StoredMatrix>& matrices);

  const std::vector<StoredMatrix>& matrices() const { return m_host; }
  const Vector<SymmetricMatrix>& gram_matrices() const { return m_grams; }
  index_t gram_count() const { return m_gram; }     ///< elements of all Gram matrices
  index_t value_count() const { return m_values; }  ///< sum of all short sides
  index_t bytes() const;

  /// Computes the Gram matrices of the short sides, in double.
  void gram(const Exec& exec, const float* data, const Span<double>& grams) const;

  /// Makes `count` terms in `floats`. All must have different positions.
  void make_terms(const Exec& exec, const float* data, const Span<const double>& vectors,
                  const Vector<RankOneTerm>& terms, index_t count, float* floats) const;

  /// For every matrix, out += weight * sum of its terms, in their order. `terms` has one entry per matrix.
  void add_terms(const Exec& exec, const Vector<RankOneTerms>& terms, const float* floats, float weight,
                 const Span<float>& out) const;

  /// Rows and columns of a matrix that one warp handles.
  struct Block {
    std::int32_t matrix, row, rows, column, columns;
  };

 private:
  std::vector<StoredMatrix> m_host;
  index_t m_gram = 0, m_values = 0;
  std::int32_t m_pieces = 0;  ///< the largest number of pieces of a long side
  Vector<StoredMatrix> m_matrices;
  Vector<SymmetricMatrix> m_grams;
  Vector<Block> m_gram_rows;  ///< of Gram matrices, on and below the diagonal
  Vector<Block> m_blocks;     ///< about a tile of elements each
};

/// A run of elements that is sent without compression.
struct CopiedRun {
  index_t first, position;  ///< in the bucket, and in the floats
  std::int32_t count;
};

/// Copies the runs from `data` to `floats`.
void gather_runs(const Exec& exec, const Vector<CopiedRun>& runs, const float* data, float* floats);
/// out += weight * floats, for all runs.
void add_runs(const Exec& exec, const Vector<CopiedRun>& runs, const float* floats, float weight,
              const Span<float>& out);

}  // namespace gradcomp::kernels
