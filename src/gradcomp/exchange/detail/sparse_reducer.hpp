#pragma once
// What reducers that merge sparse entries share: the own list, how many entries a merge keeps, and a log of what they
// returned to the memory.
#include "gradcomp/exchange/detail/return_log.hpp"
#include "gradcomp/exchange/detail/sparse_wire.hpp"
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp {

class SparseReducer : public Reducer {
 public:
  /// `returns`: most entries that a rank gives back to its memory in one step.
  SparseReducer(const ReducerSetup& setup, index_t returns);

  index_t buffer_bytes() const override { return m_returns.bytes(); }
  void take_back(const Exec& exec, const Span<float>& mean) override;

 protected:
  /// Round 0: compresses, and returns this rank's entries, or its flag.
  SparseList own_list(const Exec& exec);

  index_t elements() const { return m_sender.count(); }
  index_t max_kept() const { return m_max_kept; }
  float weight() const { return 1.0f / static_cast<float>(m_ranks); }

  /// Most entries of a sum of messages, the largest of which has `largest`: so many, or the layout's target.
  index_t max_merged(index_t largest) const;

  SparseWire m_wire;
  ReturnLog m_returns;

 private:
  index_t m_max_kept;
};

/// Most entries of a message of this bucket.
inline index_t max_kept(const ReducerSetup& setup) {
  return setup.sender.compressor().max_kept(setup.sender.state().layout);
}

/// ReducerEntry::refusal of reducers that merge sparse entries.
std::string refuses_dense(const Info& info);

}  // namespace gradcomp
