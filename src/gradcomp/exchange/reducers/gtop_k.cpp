// gtop_k: one bytes round of sparse entries. Lists are merged two by two over a binomial tree, whose hops keep the k
// largest sums, and the result goes down the same tree (gTop-k; Shi et al., ICDCS 2019). It takes any number of ranks
// P, in 2 ceil(log2 P) hops.
//
// A merge adds equal indices and drops all but k entries; k is the larger count of the two lists, or the layout's
// target if that is larger.
//   variant=fixed: the merging rank returns what it drops to its own memory, and senders restore nothing, so that
//     P out + sum of memories = sum of a.
//   variant=paper: each rank returns those of its own entries whose index is not in the final list. If an early merge
//     dropped an entry but its index survived through another subtree, this entry is lost.
#include <algorithm>

#include "gradcomp/exchange/detail/hops.hpp"
#include "gradcomp/exchange/detail/sparse_reducer.hpp"
#include "gradcomp/exchange/reducer.hpp"
#include "gradcomp/kernels/select/merge_sparse.hpp"
#include "gradcomp/kernels/select/scatter.hpp"

namespace gradcomp::reducers {
namespace {

class GTopK final : public SparseReducer {
 public:
  GTopK(const ReducerSetup& setup, bool paper)
      : SparseReducer(setup),
        m_paper(paper),
        m_tree(binomial_tree(setup.rank, setup.ranks)),
        m_tag(setup.first_tag),
        m_merge(max_kept()),
        m_packet("gradcomp::exchange::gtop_k::packet", packet_size()),
        m_received("gradcomp::exchange::gtop_k::received", packet_size()),
        m_rest(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::exchange::gtop_k::rest"),
               static_cast<std::size_t>(paper ? max_kept() : 0)) {}

  int rounds() const override { return std::max(1, static_cast<int>(m_tree.hops.size())); }
  index_t buffer_bytes() const override {
    return m_merge.bytes() + static_cast<index_t>(m_packet.size() + m_received.size() + 4 * m_rest.size());
  }

  void launch(const Exec& exec, int round, std::vector<Call>& calls) override {
    if (round == 0) m_list = own_list(exec);
    const Hop now = hop(round);
    // The root encodes the complete list; the other ranks pass on the packet that came down as it is.
    const bool starts = now.combines ? now.to != nobody : 2 * round == rounds() && m_rank == 0;
    if (starts) m_size = m_wire.encode(exec, m_list, m_packet);
    if (now.to != nobody) calls.push_back(Send{m_packet.data(), m_size, now.to, m_tag});
    if (now.from != nobody) {
      const auto& to = now.combines ? m_received : m_packet;
      calls.push_back(Receive{to.data(), static_cast<index_t>(to.size()), now.from, m_tag});
    }
  }

  void complete(const Exec& exec, int round, std::span<const Found> found) override {
    const Hop now = hop(round);
    if (now.from == nobody) return;
    m_size = found[0].bytes;
    const Span<const std::byte> bytes((now.combines ? m_received : m_packet).data(), static_cast<std::size_t>(m_size));
    const SparseList list = m_wire.decode(exec, bytes, max_kept(), 0, elements());
    if (now.combines) {
      merge(exec, list);
    } else {
      m_list = list;
    }
  }

  void finish(const Exec& exec) override {
    if (m_list.flagged) return count_diverged(exec, m_sender.faults());
    const Span<float>& mean = m_sender.mean();
    const SparseView& list = m_list.entries;
    Kokkos::deep_copy(exec, mean, 0.0f);
    kernels::scatter_add(exec, list.indices, list.values, list.kept, weight(), mean);
    if (!m_paper) return;
    const SparseView& own = m_sender.message().sparse;
    kernels::values_not_in(exec, own, list, m_rest.data());
    return_entries(exec, m_sender.source(), own.indices, 0, m_rest.data(), own.kept);
  }

 private:
  Hop hop(int round) const { return m_tree.hops.empty() ? Hop() : m_tree.hops[static_cast<std::size_t>(round)]; }
  std::size_t packet_size() const { return static_cast<std::size_t>(SparseWire::capacity(max_kept())); }

  void merge(const Exec& exec, const SparseList& peer) {
    m_list.flagged = m_list.flagged || peer.flagged;
    if (m_list.flagged) return;
    const index_t max_entries = max_merged(std::max(m_list.message, peer.message));
    m_list.flagged = !m_merge.run(exec, m_list.entries, peer.entries, max_entries);
    if (m_list.flagged) return;
    m_list.entries = m_merge.kept();
    m_list.message = std::max({m_list.message, peer.message, m_list.entries.kept});
    const auto dropped = m_merge.dropped_values();
    if (!m_paper) {
      return_entries(exec, m_sender.source(), m_merge.dropped_indices().data(), 0, dropped.data(),
                     static_cast<index_t>(dropped.size()));
    }
  }

  bool m_paper;
  HopPlan m_tree;
  int m_tag;
  kernels::SparseMerge m_merge;
  Vector<std::byte> m_packet;    ///< what this rank sends, and what it receives from its parent in the tree
  Vector<std::byte> m_received;  ///< what its child sent
  Vector<float> m_rest;          ///< of variant=paper: own entries that are not in the final list, other values 0
  index_t m_size = 0;            ///< bytes of the packet that was sent or received in this round
  SparseList m_list;             ///< of this rank's subtree; at the end of all ranks
};

}  // namespace

ReducerEntry gtop_k() {
  ReducerEntry entry;
  entry.name = "gtop_k";
  entry.summary = "merges lists two by two over a binomial tree; every merge keeps the k largest sums";
  entry.parameters = {Parameter::choice("reducer.variant", "fixed", {"fixed", "paper"},
                                        "gtop_k: fixed: entries that a merge drops return to the memory; paper: the "
                                        "authors' rule, which loses entries that several ranks have sent")};
  entry.refusal = refuses_dense;
  entry.in_any_order = true;
  entry.make = [](const ReducerSetup& setup) {
    return std::make_unique<GTopK>(setup, setup.common.text("reducer.variant") == "paper");
  };
  return entry;
}

}  // namespace gradcomp::reducers
