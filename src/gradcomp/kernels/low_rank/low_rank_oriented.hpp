#pragma once
// LowRankPlan for matrices of which some are viewed transposed: for those, P = M^T Q and Q = M P with M stored row
// after row. It is a pair of plans, of which the second swaps P and Q. For the caller, P belongs to the rows of the
// viewed matrix and Q to its columns.
#include <functional>
#include <utility>

#include "gradcomp/kernels/low_rank/low_rank.hpp"

namespace gradcomp::kernels {

class OrientedLowRank {
 public:
  /// As LowRankPlan(); the matrices for which `transposed` holds are viewed transposed.
  OrientedLowRank(const Layout& layout, int rank, double min_rate,
                  const std::function<bool(const Segment&)>& transposed);

  index_t p_count() const { return m_straight.p_count() + m_turned.q_count(); }
  index_t q_count() const { return m_straight.q_count() + m_turned.p_count(); }
  index_t dense_count() const { return m_straight.dense_count(); }
  index_t scratch_bytes() const { return m_straight.scratch_bytes() + m_turned.scratch_bytes(); }

  const Vector<ColumnMatrix>& p_columns() const { return m_p_columns; }
  const Vector<ColumnMatrix>& q_columns() const { return m_q_columns; }
  const Vector<index_t>& ids() const { return m_ids; }

  /// As in LowRankPlan, except that the first pass over transposed matrices is separate from their product.
  void project(const Exec& exec, const Source& source, const Span<const float>& q, const Span<float>& p,
               const Span<float>& dense, const Mark& mark) const;
  void accumulate(const Exec& exec, const Source& source, const Span<float>& dense, const Mark& mark) const;
  void project_back(const Exec& exec, const Source& source, const Span<const float>& p, const Span<float>& q) const;
  void reconstruct(const Exec& exec, const Source& source, const Span<const float>& p, const Span<const float>& q,
                   const Span<const float>& dense, float share, const Mark& lost, const Span<float>& out) const;

 private:
  bool has_turned() const { return m_turned.p_count() > 0; }

  LowRankPlan m_straight;  ///< of all other segments, dense ones included
  LowRankPlan m_turned;    ///< of the transposed matrices
  Vector<ColumnMatrix> m_p_columns, m_q_columns;
  Vector<index_t> m_ids;
};

}  // namespace gradcomp::kernels
