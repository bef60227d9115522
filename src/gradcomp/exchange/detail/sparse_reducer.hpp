#pragma once
// What reducers that merge sparse entries share: the list of this rank, how many entries a merge keeps, and what
// returns to the memory.
#include "gradcomp/exchange/detail/sparse_wire.hpp"
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp {

class SparseReducer : public Reducer {
 public:
  explicit SparseReducer(const ReducerSetup& setup);

 protected:
  /// Round 0: compresses, and returns the entries of this rank, or its flag. Throws Error for more than max_kept()
  /// entries.
  SparseList own_list(const Exec& exec);

  index_t elements() const { return m_sender.count(); }
  index_t max_kept() const { return m_max_kept; }
  float weight() const { return 1.0f / static_cast<float>(m_ranks); }

  /// Largest number of entries of a sum of messages: the layout's target, or `largest`, the size of the largest
  /// message, whichever is larger, but not more than max_kept().
  index_t max_merged(index_t largest) const;

  SparseWire m_wire;

 private:
  index_t m_max_kept;
};

/// Calls source.returned() for all values but zeros. values[i] belongs to element indices[i] (all different), or to
/// element first + i if `indices` is null. Does nothing without a memory.
void return_entries(const Exec& exec, const Source& source, const std::uint32_t* indices, index_t first,
                    const float* values, index_t count);

/// Largest number of entries of a message of this bucket.
inline index_t max_kept(const ReducerSetup& setup) {
  return setup.sender.compressor().max_kept(setup.sender.state().layout);
}

/// ReducerEntry::refusal of reducers that merge sparse entries.
std::string refuses_dense(const Info& info);

}  // namespace gradcomp
