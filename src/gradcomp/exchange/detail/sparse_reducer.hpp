#pragma once
// What reducers that merge sparse entries share: the list of this rank, how many entries a merge keeps, and a log of
// what was given back to the memory.
#include "gradcomp/exchange/detail/return_log.hpp"
#include "gradcomp/exchange/detail/sparse_wire.hpp"
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp {

class SparseReducer : public Reducer {
 public:
  /// `returns`: largest number of entries that a rank gives back to its memory in one step.
  SparseReducer(const ReducerSetup& setup, index_t returns);

  index_t buffer_bytes() const override { return m_returns.bytes(); }
  void take_back(const Exec& exec, const Span<float>& mean) override;

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
  ReturnLog m_returns;

 private:
  index_t m_max_kept;
};

/// Largest number of entries of a message of this bucket.
inline index_t max_kept(const ReducerSetup& setup) {
  return setup.sender.compressor().max_kept(setup.sender.state().layout);
}

/// ReducerEntry::refusal of reducers that merge sparse entries.
std::string refuses_dense(const Info& info);

}  // namespace gradcomp
