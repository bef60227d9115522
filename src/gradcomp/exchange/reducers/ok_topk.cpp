// ok_topk: one bytes round of sparse entries, which owners of index ranges add (Ok-Topk; Li & Hoefler, PPoPP 2022).
//   round 0  every `interval` steps: new boundaries of the ranges, each the mean over ranks of the boundary that splits
//            the rank's entries evenly
//   round 1  entries go to their owners (alltoallv)
//   round 2  owners add them in rank order; a histogram of the sums' magnitudes over all owners (allreduce)
//   round 3  sums above the common threshold go to all ranks (allgatherv): k in all, the largest count of a message or
//            the layout's target, but up to one entry per rank fewer
// An owner returns what it drops to its own memory, and senders restore nothing: P out + sum of memories = sum of a.
// select=off keeps all sums; this is an exact sparse allreduce without round 2.
//
// The paper searches the threshold every 32 steps and restores dropped entries at their senders. A histogram of 16 KiB
// in every step needs neither an estimate nor a second search.
#include <fmt/ranges.h>

#include <algorithm>

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/exchange/detail/sparse_reducer.hpp"
#include "gradcomp/exchange/reducer.hpp"
#include "gradcomp/kernels/select/owned_sums.hpp"
#include "gradcomp/kernels/select/scatter.hpp"

namespace gradcomp::reducers {
namespace {

/// Bytes of `parts` aligned lists that have `entries` entries together.
std::size_t room(int parts, index_t entries) {
  return static_cast<std::size_t>(parts * (SparseWire::capacity(0) + block_alignment) + SparseWire::capacity(entries));
}

template <class T>
void download(const Exec& exec, const Vector<T>& device, std::vector<T>& host) {
  read_back(exec, Span<const T>(device), host.data(), "gradcomp::exchange::ok_topk");
}

/// Largest number of entries in the sum of all ranks' messages.
index_t max_sums(const ReducerSetup& setup) { return std::min(setup.sender.count(), setup.ranks * max_kept(setup)); }

class OkTopk final : public SparseReducer {
 public:
  OkTopk(const ReducerSetup& setup, index_t interval, bool select)
      : SparseReducer(setup),
        m_interval(interval),
        m_select(select),
        m_max_sums(max_sums(setup)),
        m_sums("gradcomp::exchange::ok_topk::sums", static_cast<std::size_t>(setup.sender.count())),
        m_indices("gradcomp::exchange::ok_topk::indices", static_cast<std::size_t>(max_own())),
        m_values("gradcomp::exchange::ok_topk::values", static_cast<std::size_t>(max_own())),
        m_send("gradcomp::exchange::ok_topk::send", room(m_ranks, std::max(max_kept(), max_own()))),
        m_receive("gradcomp::exchange::ok_topk::receive", room(m_ranks, m_ranks * max_kept())),
        m_cuts("gradcomp::exchange::ok_topk::cuts", static_cast<std::size_t>(m_ranks - 1)),
        m_bounds("gradcomp::exchange::ok_topk::bounds", static_cast<std::size_t>(m_ranks + 1)),
        m_starts("gradcomp::exchange::ok_topk::starts", m_bounds.size()),
        m_own_bins("gradcomp::exchange::ok_topk::own_bins", kernels::magnitude_bins),
        m_all_bins("gradcomp::exchange::ok_topk::all_bins", kernels::magnitude_bins),
        m_host_cuts(m_cuts.size()),
        m_host_bounds(m_bounds.size()),
        m_host_starts(m_bounds.size()),
        m_host_own_bins(m_own_bins.size()),
        m_host_all_bins(m_own_bins.size()) {
    require(m_max_sums < (index_t{1} << 31), "reducer ok_topk: up to {} sums in one bucket; allowed: fewer than 2^31",
            m_max_sums);
    m_parts.size.resize(static_cast<std::size_t>(m_ranks));
    m_parts.offset.resize(static_cast<std::size_t>(m_ranks));
    for (int p = 0; p <= m_ranks; ++p) set_bound(p, elements() * p / m_ranks);
  }

  int rounds() const override { return 4; }

  /// The boundaries, which hold for `interval` steps.
  Memories memories() override {
    return {{"owner_bounds", m_host_bounds.data(), 8 * std::ssize(m_host_bounds), true, Role::reducer, -1}};
  }

  index_t buffer_bytes() const override {
    return static_cast<index_t>(4 * m_sums.size() + 8 * m_indices.size() + m_send.size() + m_receive.size() +
                                8 * (m_cuts.size() + m_bounds.size() + m_starts.size() + m_own_bins.size()));
  }

  void launch(const Exec& exec, int round, std::vector<Call>& calls) override {
    const auto room = static_cast<index_t>(m_receive.size());
    if (round == 0) {
      m_list = own_list(exec);
      if (!balances()) return;
      kernels::equal_parts(exec, m_list.entries, elements(), m_ranks, m_cuts);
      calls.push_back(AllReduce{m_cuts.data(), m_cuts.data(), m_ranks - 1, DType::i64, ReduceOp::sum});
    } else if (round == 1) {
      check_bounds();
      encode_parts(exec);
      calls.push_back(AllToAllV{m_send.data(), &m_parts, m_receive.data(), room});
    } else if (round == 2 && m_select) {
      calls.push_back(
          AllReduce{m_own_bins.data(), m_all_bins.data(), kernels::magnitude_bins, DType::i32, ReduceOp::sum});
    } else if (round == 3) {
      const index_t size = m_wire.encode(exec, m_list, m_send);
      calls.push_back(AllGatherV{m_send.data(), size, m_receive.data(), room});
    }
  }

  void complete(const Exec& exec, int round, std::span<const Found> found) override {
    if (round == 0 && balances()) {
      download(exec, m_cuts, m_host_cuts);
      for (int p = 1; p < m_ranks; ++p) set_bound(p, m_host_cuts[static_cast<std::size_t>(p - 1)] / m_ranks);
    } else if (round == 1) {
      sum(exec, found[0].blocks);
    } else if (round == 2) {
      choose(exec);
    } else if (round == 3) {
      m_blocks = &found[0].blocks;
    }
  }

  void finish(const Exec& exec) override {
    const Span<float>& mean = m_sender.mean();
    Kokkos::deep_copy(exec, mean, 0.0f);
    for (int r = 0; r < m_ranks; ++r) {
      const SparseList list = received(exec, *m_blocks, r, max_own(), r);
      if (list.flagged) count_diverged(exec, m_sender.faults());
      kernels::scatter_add(exec, list.entries.indices, list.entries.values, list.entries.kept, weight(), mean);
    }
  }

 private:
  /// Largest number of sums that an owner keeps.
  index_t max_own() const { return m_select ? max_kept() : m_max_sums; }

  /// Owner p has the elements [bound(p), bound(p + 1)).
  void set_bound(int p, index_t element) { m_host_bounds[static_cast<std::size_t>(p)] = element; }
  index_t bound(int rank) const { return m_host_bounds[static_cast<std::size_t>(rank)]; }

  /// The bounds came from other ranks or from a checkpoint, so they are checked before use.
  void check_bounds() const {
    require(m_host_bounds.front() == 0 && m_host_bounds.back() == elements() &&
                std::is_sorted(m_host_bounds.begin(), m_host_bounds.end()),
            "reducer ok_topk: the owners' ranges begin at {}; allowed: ascending elements from 0 to {}",
            fmt::join(m_host_bounds, ", "), elements());
  }

  /// Depends on the step alone, so that all ranks agree.
  bool balances() const { return m_ranks > 1 && m_sender.context().turn() % m_interval == 0; }

  Span<float> own_sums() const { return subspan<float>(m_sums, bound(m_rank), bound(m_rank + 1) - bound(m_rank)); }

  /// Encodes this rank's list, cut at the boundaries. A flag goes to all owners.
  void encode_parts(const Exec& exec) {
    Kokkos::deep_copy(exec, m_bounds, HostSpan<const index_t>(m_host_bounds.data(), m_host_bounds.size()));
    kernels::entries_below(exec, m_list.entries, m_bounds, m_starts);
    download(exec, m_starts, m_host_starts);
    index_t end = 0;
    for (std::size_t p = 0; p < m_parts.size.size(); ++p) {
      SparseList part = m_list;
      const index_t first = m_host_starts[p];
      part.entries = {m_list.entries.indices + first, m_list.entries.values + first, m_host_starts[p + 1] - first};
      m_parts.offset[p] = aligned(end);
      const index_t left = static_cast<index_t>(m_send.size()) - m_parts.offset[p];
      m_parts.size[p] = m_wire.encode(exec, part, subspan<std::byte>(m_send, m_parts.offset[p], left));
      end = m_parts.offset[p] + m_parts.size[p];
    }
  }

  SparseList received(const Exec& exec, const Blocks& blocks, int from, index_t capacity, int owner) const {
    const auto r = static_cast<std::size_t>(from);
    const Span<const std::byte> bytes(m_receive.data() + blocks.offset[r], static_cast<std::size_t>(blocks.size[r]));
    return m_wire.decode(exec, bytes, capacity, bound(owner), bound(owner + 1));
  }

  /// Adds what came for this owner, in rank order.
  void sum(const Exec& exec, const Blocks& blocks) {
    const Span<float> own = own_sums();
    Kokkos::deep_copy(exec, own, 0.0f);
    m_largest = 0;
    m_flagged = false;
    for (int r = 0; r < m_ranks; ++r) {
      const SparseList list = received(exec, blocks, r, max_kept(), m_rank);
      m_flagged = m_flagged || list.flagged;
      m_largest = std::max(m_largest, list.message);
      kernels::scatter_add(exec, list.entries.indices, list.entries.values, list.entries.kept, 1.0f, m_sums);
    }
    kernels::magnitude_histogram(exec, own, m_own_bins);
  }

  /// Keeps the own sums above the threshold. A sum that overflowed flags the list.
  void choose(const Exec& exec) {
    download(exec, m_own_bins, m_host_own_bins);
    m_flagged = m_flagged || std::any_of(m_host_own_bins.begin() + kernels::first_non_finite_bin, m_host_own_bins.end(),
                                         [](std::int32_t count) { return count > 0; });
    m_list = {};
    m_list.flagged = m_flagged;
    if (m_flagged) return;
    kernels::MagnitudeCut cut;
    if (m_select) {
      download(exec, m_all_bins, m_host_all_bins);
      cut = kernels::cut_of(m_host_all_bins.data(), m_host_own_bins.data(), max_merged(m_largest));
    }
    const Span<float> own = own_sums();
    const index_t first = bound(m_rank);
    const index_t kept = kernels::take_above(exec, own, first, cut, m_indices.data(), m_values.data());
    m_list.entries = {m_indices.data(), m_values.data(), kept};
    m_list.message = kept;
    if (m_select) return_entries(exec, m_sender.source(), nullptr, first, own.data(), static_cast<index_t>(own.size()));
  }

  index_t m_interval;
  bool m_select;
  index_t m_max_sums;
  Vector<float> m_sums;  ///< [elements], only the own range is used; at the end what was dropped
  Vector<std::uint32_t> m_indices;
  Vector<float> m_values;
  Vector<std::byte> m_send, m_receive;
  Vector<index_t> m_cuts, m_bounds, m_starts;  ///< [ranks - 1] proposals and their sum, [ranks + 1], [ranks + 1]
  Vector<std::int32_t> m_own_bins, m_all_bins;
  std::vector<index_t> m_host_cuts, m_host_bounds, m_host_starts;
  std::vector<std::int32_t> m_host_own_bins, m_host_all_bins;
  Blocks m_parts;
  const Blocks* m_blocks = nullptr;  ///< places of the owners' lists
  index_t m_largest = 0;
  bool m_flagged = false;
  SparseList m_list;  ///< of this rank, later of this owner
};

}  // namespace

ReducerEntry ok_topk() {
  ReducerEntry entry;
  entry.name = "ok_topk";
  entry.summary =
      "each rank owns a range of indices and adds the entries sent to it; the k largest sums go to all ranks";
  entry.parameters = {Parameter::integer("reducer.interval", "64", 1, 1000000,
                                         "ok_topk: steps from one check of the owners' boundaries to the next"),
                      Parameter::choice("reducer.select", "on", {"on", "off"},
                                        "ok_topk: on: at most k sums go to all ranks; off: all sums, an exact sparse "
                                        "allreduce")};
  entry.refusal = refuses_dense;
  entry.make = [](const ReducerSetup& setup) {
    return std::make_unique<OkTopk>(setup, setup.common.integer("reducer.interval"),
                                    setup.common.text("reducer.select") == "on");
  };
  return entry;
}

}  // namespace gradcomp::reducers
