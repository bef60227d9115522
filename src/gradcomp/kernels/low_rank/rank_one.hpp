#pragma once
// Matrices as sums of rank-one terms: the products that a decomposition through the Gram matrix of the short side
// needs, for all matrices of a bucket in one launch each. With eigenvectors u_i of M M^T (or M^T M) the terms u_i
// (u_i^T M) add up to M, however accurate the eigenvectors are, as long as they are orthonormal.
#include <vector>

#include "gradcomp/kernels/linear_algebra/jacobi.hpp"

namespace gradcomp::kernels {

/// A matrix inside a flat array, row after row.
struct StoredMatrix {
  index_t first;
  std::int32_t rows, columns;

  KOKKOS_INLINE_FUNCTION bool is_wide() const { return rows <= columns; }  ///< the short side is that of the rows
  KOKKOS_INLINE_FUNCTION std::int32_t short_side() const { return is_wide() ? rows : columns; }
  KOKKOS_INLINE_FUNCTION std::int32_t long_side() const { return is_wide() ? columns : rows; }
  /// Floats of a stored term: its weight, then its column vector and its row vector.
  KOKKOS_INLINE_FUNCTION index_t term() const { return index_t{1} + rows + columns; }
};

/// Term to be made of eigenvector `vector` of a matrix: weight, u and u^T M / sigma, where sigma is its singular value.
struct RankOneTerm {
  std::int32_t matrix, vector;
  float weight;
  double inverse_sigma;
  index_t position;  ///< first float
};

/// Terms of one matrix to be added: `count` of them from float `position` on.
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
  index_t gram_count() const { return m_gram; }     ///< numbers of all Gram matrices
  index_t value_count() const { return m_values; }  ///< sum of all short sides
  index_t bytes() const;

  /// Gram matrices of the short sides, in double.
  void gram(const Exec& exec, const float* data, const Span<double>& grams) const;

  /// Makes `count` terms, of which none has two with the same position, in `floats`.
  void make_terms(const Exec& exec, const float* data, const Span<const double>& vectors,
                  const Vector<RankOneTerm>& terms, index_t count, float* floats) const;

  /// out += weight * sum of the terms of every matrix, in their order. terms: one per matrix.
  void add_terms(const Exec& exec, const Vector<RankOneTerms>& terms, const float* floats, float weight,
                 const Span<float>& out) const;

  /// Rows and columns of a matrix that one warp takes.
  struct Block {
    std::int32_t matrix, row, rows, column, columns;
  };

 private:
  std::vector<StoredMatrix> m_host;
  index_t m_gram = 0, m_values = 0;
  std::int32_t m_pieces = 0;  ///< most pieces of a long side
  Vector<StoredMatrix> m_matrices;
  Vector<SymmetricMatrix> m_grams;
  Vector<Block> m_gram_rows;  ///< row i of a Gram matrix, columns [column, column + columns) up to i
  Vector<Block> m_blocks;     ///< about a tile of elements each
};

/// A run of elements that travels as it is.
struct CopiedRun {
  index_t first, position;  ///< in the bucket, and in the floats
  std::int32_t count;
};

/// floats = data, run by run; or out += weight * floats.
void gather_runs(const Exec& exec, const Vector<CopiedRun>& runs, const float* data, float* floats);
void add_runs(const Exec& exec, const Vector<CopiedRun>& runs, const float* floats, float weight,
              const Span<float>& out);

}  // namespace gradcomp::kernels
