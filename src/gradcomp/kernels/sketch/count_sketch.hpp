#pragma once
// Count sketch of a vector (Charikar, Chen, Farach-Colton, ICALP 2002): in each of `rows` rows, a hash adds every
// element with a random sign to one of `columns` sums. Sketches are linear: the sketch of a sum is the sum of the
// sketches.
//
// Blocks are hashed: in every row, 32 consecutive elements go to 32 consecutive columns, rotated by a random amount,
// and every element has a sign of its own. Two elements of different blocks collide with probability 1 / columns;
// elements of one block never do. So sign * table is an unbiased estimate of an element, with the variance
// (||x||^2 - ||block of the element||^2) / columns.
//
// Each sum adds its blocks in ascending order, from a list. So there are no atomics, and the bits are the same for any
// number of threads. Passes: `rows` reads of n floats for a sketch; 1 write of n floats for the estimates, while the
// table stays in cache.
#include "gradcomp/kernels/random/threefry.hpp"

namespace gradcomp::kernels {

inline constexpr int sketch_block = 32;

/// Where a block is in one row: its first element is at column `place`, and the others follow in a ring of 32 columns
/// that starts at a multiple of 32. Bit c % 32 of `signs` says whether the element at column c is negated.
struct SketchPlace {
  std::uint32_t place, signs;
};

/// A block that is added to 32 columns. `block` = index of the block << 5 | rotation.
struct SketchVisit {
  std::uint32_t block, signs;
};

/// The hashes of one vector, drawn once for each seed. Work space: about n / 2 bytes for each row.
class CountSketch {
 public:
  /// `count` is below 2^32; `rows` is odd and at most 9; `columns` is a multiple of 32 (0 is allowed if count = 0).
  /// Throws Error for other rows and columns.
  CountSketch(index_t count, int rows, index_t columns);

  /// Draws the hashes of (seed, id), unless the last call drew the same, and then waits for exec. The draw of block b
  /// has the key of (seed, id, step 0, every_rank) and the counter (b, sketch, row). Its words 0 and 1 choose the ring
  /// by random_below(), word 2 modulo 32 is the rotation, and word 3 holds the signs.
  void hash(const Exec& exec, std::uint64_t seed, index_t id);

  /// table [rows][columns] = the sketch of x.
  void sketch(const Exec& exec, const float* x, const Span<float>& table) const;

  /// estimates[i] = median over rows of sign * table, for i < count.
  void estimate(const Exec& exec, const Span<const float>& table, const Span<float>& estimates) const;

  index_t table_size() const { return m_rows * m_columns; }
  index_t bytes() const;

 private:
  index_t m_count, m_rows, m_columns, m_blocks;
  Vector<SketchPlace> m_places;  ///< [rows][blocks]
  Vector<SketchVisit> m_visits;  ///< [rows][blocks], sorted by column
  Vector<index_t> m_begin;       ///< [rows][columns / 32] + 1, first visit of each ring
  bool m_hashed = false;
  std::uint64_t m_seed = 0;
  index_t m_id = 0;
};

}  // namespace gradcomp::kernels
