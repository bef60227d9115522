#pragma once
// What a reducer has given back to the memory of the source in a step, so that a skipped step can undo it bit for bit.
#include <vector>

#include "gradcomp/core/source.hpp"

namespace gradcomp {

class ReturnLog {
 public:
  /// For at most `capacity` entries in one step.
  explicit ReturnLog(index_t capacity);

  /// Begins a new step.
  void clear() { m_ends.clear(); }

  /// Calls source.returned() for all values but zeros. values[i] belongs to element indices[i] (all different), or to
  /// element first + i if `indices` is null. Does nothing without a memory. Waits for exec. Throws Error if a step
  /// gives more entries than the capacity.
  void give(const Exec& exec, const Source& source, const std::uint32_t* indices, index_t first, const float* values,
            index_t count);

  /// Restores the memory as it was before all give() of this step.
  void undo(const Exec& exec, const Source& source);

  index_t bytes() const { return 8 * static_cast<index_t>(m_indices.size()); }

 private:
  Vector<std::uint32_t> m_indices;
  Vector<float> m_before;       ///< what the memory held at m_indices
  std::vector<index_t> m_ends;  ///< [calls of give()] number of entries after each
};

}  // namespace gradcomp
