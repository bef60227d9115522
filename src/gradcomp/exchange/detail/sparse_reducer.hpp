#pragma once
// What reducers that merge sparse entries share: the own message, its list, how many entries a merge keeps, and a log
// of what they returned to the memory.
#include "gradcomp/exchange/detail/return_log.hpp"
#include "gradcomp/exchange/detail/sparse_wire.hpp"
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp {

class SparseReducer : public Reducer {
 public:
  /// `returns`: most entries that a rank gives back to its memory in one step.
  SparseReducer(const Compressor& compressor, const Layout& layout, Communicator& comm, index_t returns);

  index_t buffer_bytes() const override { return m_returns.bytes(); }
  void give_back(const Exec& exec, const Span<float>& out) override;

 protected:
  /// Round 0: compresses, and returns this rank's entries, or its flag.
  SparseList own_list(const Exec& exec);

  index_t elements() const { return m_state->layout.count(); }
  index_t most_kept() const { return m_most_kept; }

  /// Most entries of a sum of messages, the largest of which has `largest`: so many, or the layout's target.
  index_t most_merged(index_t largest) const;

  SparseWire m_wire;
  ReturnLog m_returns;
  Message m_own;  ///< of round 0

 private:
  index_t m_most_kept;
};

/// Throws Error unless the method sends one round of bytes with Message::sparse.
void require_sparse(const char* reducer, const Compressor& compressor, const Layout& layout);

}  // namespace gradcomp
