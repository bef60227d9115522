#include "gradcomp/exchange/gtop_k.hpp"

#include <algorithm>
#include <bit>

#include "gradcomp/exchange/detail/sparse_reducer.hpp"
#include "gradcomp/kernels/merge_sparse.hpp"
#include "gradcomp/kernels/scatter.hpp"

namespace gradcomp {
namespace {

/// What a rank does in a round: nothing, or one message to or from a peer, up or down the tree.
struct Hop {
  enum class Kind { none, send, receive } kind = Kind::none;
  int peer = -1;
  bool up = true;
};

/// Rounds 0 .. hops-1 go up with strides 1, 2, 4 ..; the others down with the same strides backwards.
Hop hop_of(int round, int rank, int ranks) {
  const int hops = std::bit_width(static_cast<unsigned>(ranks - 1));
  if (round >= 2 * hops) return {};
  const bool up = round < hops;
  const int stride = 1 << (up ? round : 2 * hops - 1 - round), place = rank % (2 * stride);
  using Kind = Hop::Kind;
  if (place == stride) return {up ? Kind::send : Kind::receive, rank - stride, up};
  if (place == 0 && rank + stride < ranks) return {up ? Kind::receive : Kind::send, rank + stride, up};
  return {};
}

class GTopK final : public SparseReducer {
 public:
  GTopK(const Compressor& compressor, const Layout& layout, Communicator& comm, bool paper)
      : SparseReducer(compressor, layout, comm, returns(paper, comm) * compressor.most_kept(layout)),
        m_paper(paper),
        m_hops(std::bit_width(static_cast<unsigned>(comm.size() - 1))),
        m_merge(most_kept()),
        m_packet("gradcomp::exchange::gtop_k::packet", packet_size()),
        m_received("gradcomp::exchange::gtop_k::received", packet_size()),
        m_rest(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::exchange::gtop_k::rest"),
               static_cast<std::size_t>(paper ? most_kept() : 0)) {}

  int rounds() const override { return std::max(1, 2 * m_hops); }
  index_t buffer_bytes() const override {
    return SparseReducer::buffer_bytes() + m_merge.bytes() +
           static_cast<index_t>(m_packet.size() + m_received.size() + 4 * m_rest.size());
  }

 private:
  std::size_t packet_size() const { return static_cast<std::size_t>(SparseWire::capacity(most_kept())); }

  /// Times that this rank returns entries in a step, each time at most as many as a message has.
  static index_t returns(bool paper, const Communicator& comm) {
    if (paper) return 1;
    index_t merges = 0;
    for (int round = 0; hop_of(round, comm.rank(), comm.size()).kind == Hop::Kind::receive; ++round) {
      merges += hop_of(round, comm.rank(), comm.size()).up ? 1 : 0;
    }
    return merges;
  }

  void produce(const Exec& exec, int round) override {
    m_round = round;
    if (round == 0) m_list = own_list(exec);
    const Hop hop = hop_of(round, m_comm.rank(), m_comm.size());
    // at the root the list is complete; elsewhere the packet that came down goes on as it is
    const bool starts = hop.up ? hop.kind == Hop::Kind::send : round == m_hops && m_comm.rank() == 0;
    if (starts) m_size = m_wire.encode(exec, m_list, m_packet);
  }

  RequestPtr exchange(const Exec& exec, const Message&) override {
    const Hop hop = hop_of(m_round, m_comm.rank(), m_comm.size());
    if (hop.kind == Hop::Kind::send) return m_comm.send_sized(exec, m_packet.data(), m_size, hop.peer, m_round);
    if (hop.kind == Hop::Kind::receive) {
      const auto& to = hop.up ? m_received : m_packet;
      return m_comm.receive_sized(exec, to.data(), static_cast<index_t>(to.size()), hop.peer, m_round, &m_size);
    }
    return std::make_unique<FinishedRequest>(Request::Clock::now());
  }

  void consume(const Exec& exec, int round, const Message&) override {
    const Hop hop = hop_of(round, m_comm.rank(), m_comm.size());
    if (hop.kind != Hop::Kind::receive) return;
    const Span<const std::byte> bytes((hop.up ? m_received : m_packet).data(), static_cast<std::size_t>(m_size));
    const SparseList list = m_wire.decode(exec, bytes, most_kept(), 0, elements());
    if (hop.up) {
      merge(exec, list);
    } else {
      m_list = list;
    }
  }

  void merge(const Exec& exec, const SparseList& peer) {
    m_list.flagged = m_list.flagged || peer.flagged;
    if (m_list.flagged) return;
    const index_t most = most_merged(std::max(m_list.message, peer.message));
    m_list.flagged = !m_merge.run(exec, m_list.entries, peer.entries, most);
    if (m_list.flagged) return;
    m_list.entries = m_merge.kept();
    m_list.message = std::max({m_list.message, peer.message, m_list.entries.kept});
    const auto dropped = m_merge.dropped_values();
    if (!m_paper) {
      m_returns.give(exec, m_source, m_merge.dropped_indices().data(), 0, dropped.data(),
                     static_cast<index_t>(dropped.size()));
    }
  }

  bool decompress(const Exec& exec, const Span<float>& out) override {
    if (m_list.flagged) return false;
    const SparseView& list = m_list.entries;
    Kokkos::deep_copy(exec, out, 0.0f);
    kernels::scatter_add(exec, list.indices, list.values, list.kept, 1.0f / static_cast<float>(m_context.ranks), out);
    if (m_paper) {
      kernels::values_not_in(exec, m_own.sparse, list, m_rest.data());
      m_returns.give(exec, m_source, m_own.sparse.indices, 0, m_rest.data(), m_own.sparse.kept);
    }
    return true;
  }

  bool m_paper;
  int m_hops;
  kernels::SparseMerge m_merge;
  Vector<std::byte> m_packet;    ///< what this rank sends, and what it receives from above
  Vector<std::byte> m_received;  ///< from below
  Vector<float> m_rest;          ///< of variant=paper: own entries that are not in the final list
  int m_round = 0;               ///< the last that was produced
  index_t m_size = 0;            ///< bytes of the packet sent or received in this round
  SparseList m_list;             ///< of this rank's subtree; in the end of all ranks
};

}  // namespace

std::unique_ptr<Reducer> make_gtop_k(const Options& common, const Compressor& compressor, const Layout& layout,
                                     Communicator& comm) {
  require_sparse("gtop_k", compressor, layout);
  return std::make_unique<GTopK>(compressor, layout, comm, common.text("reducer.variant") == "paper");
}

}  // namespace gradcomp
