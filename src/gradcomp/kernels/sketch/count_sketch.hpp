#pragma once
// Count sketch of a vector (Charikar, Chen, Farach-Colton, ICALP 2002): `rows` independent hashes into `columns` sums
// of signed elements each. Linear: the sketch of a sum is the sum of the sketches.
//
// Hashing by blocks: in every row 32 consecutive elements go to 32 consecutive columns, turned by a random amount,
// every element with a sign of its own. Two elements of different blocks meet with probability 1 / columns, of one
// block never: sign * table is an unbiased estimate of an element, its variance (||x||^2 - ||x of its block||^2) /
// columns.
//
// Sums are made column by column, of the blocks that a list names in ascending order: no atomics, the same bits for any
// number of threads. Bytes: `rows` reads of n floats for a sketch; 1 write for the estimates, whose tables stay in
// cache.
#include "gradcomp/kernels/random/threefry.hpp"

namespace gradcomp::kernels {

inline constexpr int sketch_block = 32;

/// Where a block lies in one row: its first element at column `place`, the others in a ring of 32 columns that starts
/// at a multiple of 32. Bit c % 32 of `signs`: whether the element of column c is negated.
struct SketchPlace {
  std::uint32_t place, signs;
};

/// A block that goes to some 32 columns, index << 5 | turn.
struct SketchVisit {
  std::uint32_t block, signs;
};

/// The hashes of one vector, made once for each seed. Work space: about n / 2 bytes for each row.
class CountSketch {
 public:
  /// `count` below 2^32 elements, `rows` odd and at most 9, `columns` a multiple of 32 (0 where count = 0).
  CountSketch(index_t count, int rows, index_t columns);

  /// Draws the hashes of (seed, id), unless they are the last ones. Waits for exec where it draws.
  void hash(const Exec& exec, std::uint64_t seed, index_t id);

  /// table = sketch of x. [rows][columns]
  void sketch(const Exec& exec, const float* x, const Span<float>& table) const;

  /// estimates[i] = median over rows of sign * table. [count]
  void estimate(const Exec& exec, const Span<const float>& table, const Span<float>& estimates) const;

  index_t table_size() const { return m_rows * m_columns; }
  index_t bytes() const;

 private:
  index_t m_count, m_rows, m_columns, m_blocks;
  Vector<SketchPlace> m_places;  ///< [rows][blocks]
  Vector<SketchVisit> m_visits;  ///< [rows][blocks], by column
  Vector<index_t> m_begin;       ///< [rows][columns / 32] + 1, of m_visits
  bool m_hashed = false;
  std::uint64_t m_seed = 0;
  index_t m_id = 0;
};

}  // namespace gradcomp::kernels
