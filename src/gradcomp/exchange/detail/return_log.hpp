#pragma once
// What a reducer gave back to the memory of the source within a step, so that a skipped step can undo it bit by bit.
#include <vector>

#include "gradcomp/core/source.hpp"

namespace gradcomp {

class ReturnLog {
 public:
  /// For at most `capacity` entries in one step.
  explicit ReturnLog(index_t capacity);

  /// A new step.
  void clear() { m_ends.clear(); }

  /// source.returned() of all values but zeros; values[i] belongs to element indices[i], unique, or to first + i where
  /// `indices` is null. Nothing without a memory. Waits for exec.
  void give(const Exec& exec, const Source& source, const std::uint32_t* indices, index_t first, const float* values,
            index_t count);

  /// The memory as it was before the give()s of this step.
  void undo(const Exec& exec, const Source& source);

  index_t bytes() const { return 8 * static_cast<index_t>(m_indices.size()); }

 private:
  Vector<std::uint32_t> m_indices;
  Vector<float> m_before;       ///< what the memory held there
  std::vector<index_t> m_ends;  ///< of each give()
};

}  // namespace gradcomp
