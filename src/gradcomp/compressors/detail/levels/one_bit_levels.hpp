#pragma once
// The columns of 1-bit SGD and the two levels of each: the means of the elements below a threshold and of the others.
//
// The threshold is 0, or the column's mean, rounded up to a float: then a column of two values has one on either side
// and equal elements are not below it. With threshold 0 the level of an empty class is 0, with the mean that of the
// other class, so that lower <= upper always holds.
#include <vector>

#include "gradcomp/kernels/pack/signs.hpp"

namespace gradcomp::compressors {

/// Of the elements of a piece on either side of its column's threshold. In double: the mean of equal floats is that
/// float, and nothing overflows.
struct SideSums {
  double below, above;
  std::int32_t under;  ///< elements below
};

class ColumnLevels {
 public:
  ColumnLevels(const std::vector<kernels::SignRun>& columns, bool about_mean);

  const kernels::SignPieces& pieces() const { return m_pieces; }
  index_t columns() const { return static_cast<index_t>(m_pieces.begin.size()) - 1; }
  index_t bytes() const;

  /// Forms a of all columns, and counts its non-finite elements.
  void accumulate(const Exec& exec, const Source& source, const Tally& non_finite) const;

  /// After accumulate(), of finite elements: values[2 c], values[2 c + 1] = lower and upper level of column c (1 more
  /// read of a about the mean).
  void write(const Exec& exec, const Source& source, float* values) const;

  /// The levels in `values`: to encode after write(), and to decode.
  kernels::SignLevels levels(const float* values) const {
    return {values, 2, m_about_mean ? m_thresholds.data() : nullptr, m_about_mean};
  }

 private:
  bool m_about_mean;
  kernels::SignPieces m_pieces;
  Vector<SideSums> m_sums;     ///< [pieces]
  Vector<float> m_thresholds;  ///< [columns] about the mean
};

}  // namespace gradcomp::compressors
