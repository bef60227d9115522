#pragma once
// The columns of 1-bit SGD and the two levels of each column: the mean of the elements below a threshold, and the mean
// of the others.
//
// The threshold is 0, or the column's mean, rounded up to a float. If a column has only two values, they lie on
// different sides of its rounded mean; equal elements do not lie below it. If a side is empty, its level is 0 with
// threshold 0, and the level of the other side with the mean. So lower <= upper always holds.
#include <vector>

#include "gradcomp/kernels/pack/signs.hpp"

namespace gradcomp::compressors {

/// Sums of the elements of a piece on both sides of its column's threshold. They are double, so that the mean of equal
/// floats is that float and nothing overflows.
struct SideSums {
  double below, above;
  index_t under, count;  ///< number of elements below the threshold, and of all
};

class ColumnLevels {
 public:
  ColumnLevels(const std::vector<kernels::SignRun>& columns, bool about_mean);

  const kernels::SignPieces& pieces() const { return m_pieces; }
  index_t columns() const { return static_cast<index_t>(m_pieces.begin.size()) - 1; }
  index_t bytes() const;

  /// Forms a of all columns, and notes whether all its elements are finite: values[2 c] and values[2 c + 1] become the
  /// lower and the upper level of column c, and `words` the signs of all columns; the memory keeps the rest. A column
  /// of one piece (up to 4096 elements) is visited once: it stays in the first-level cache of a host.
  void encode(const Exec& exec, const Source& source, const Mark& mark, float* values, std::uint32_t* words) const;

  /// Levels for the sign kernels, with the `values` of a payload.
  kernels::SignLevels levels(const float* values) const { return {values, 2, m_about_mean}; }

 private:
  /// Whether a column has several pieces; each has at least one.
  bool has_long() const { return m_pieces.count() > columns(); }

  bool m_about_mean;
  kernels::SignPieces m_pieces;
  Vector<SideSums> m_sums;     ///< [pieces] if has_long(), used of long columns
  Vector<float> m_thresholds;  ///< [columns] if has_long() and thresholds are means, used of long columns
};

}  // namespace gradcomp::compressors
