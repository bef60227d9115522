#include "gradcomp/exchange/ok_topk.hpp"

#include <algorithm>

#include "gradcomp/exchange/detail/sparse_reducer.hpp"
#include "gradcomp/kernels/owned_sums.hpp"
#include "gradcomp/kernels/scatter.hpp"

namespace gradcomp {
namespace {

/// Bytes of `parts` aligned lists with `entries` in all.
std::size_t room(int parts, index_t entries) {
  return static_cast<std::size_t>(parts * (SparseWire::capacity(0) + gather_alignment) + SparseWire::capacity(entries));
}

template <class T>
void download(const Exec& exec, const Vector<T>& device, std::vector<T>& host) {
  Kokkos::deep_copy(exec, HostSpan<T>(host.data(), host.size()), device);
  exec.fence("gradcomp::exchange::ok_topk");
}

class OkTopk final : public SparseReducer {
 public:
  OkTopk(const Compressor& compressor, const Layout& layout, Communicator& comm, index_t interval, bool select)
      : SparseReducer(compressor, layout, comm, select ? most_sums(compressor, layout, comm) : 0),
        m_interval(interval),
        m_select(select),
        m_ranks(comm.size()),
        m_most_sums(most_sums(compressor, layout, comm)),
        m_sums("gradcomp::exchange::ok_topk::sums", static_cast<std::size_t>(layout.count())),
        m_indices("gradcomp::exchange::ok_topk::indices", static_cast<std::size_t>(most_own())),
        m_values("gradcomp::exchange::ok_topk::values", static_cast<std::size_t>(most_own())),
        m_send("gradcomp::exchange::ok_topk::send", room(m_ranks, std::max(most_kept(), most_own()))),
        m_receive("gradcomp::exchange::ok_topk::receive", room(m_ranks, m_ranks * most_kept())),
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
    require(m_most_sums < (index_t{1} << 31), "reducer ok_topk: {} sums in one bucket cannot be counted in 31 bits",
            m_most_sums);
    m_parts.size.resize(static_cast<std::size_t>(m_ranks));
    m_parts.offset.resize(static_cast<std::size_t>(m_ranks));
    for (int p = 0; p <= m_ranks; ++p) set_bound(p, elements() * p / m_ranks);
  }

  int rounds() const override { return 4; }

  /// The boundaries hold for `interval` steps.
  std::vector<StateView> persistent() override {
    auto views = SparseReducer::persistent();
    views.push_back({"owner_bounds", m_host_bounds.data(), 8 * std::ssize(m_host_bounds), true});
    return views;
  }

  index_t buffer_bytes() const override {
    return SparseReducer::buffer_bytes() +
           static_cast<index_t>(4 * m_sums.size() + 8 * m_indices.size() + m_send.size() + m_receive.size() +
                                8 * (m_cuts.size() + m_bounds.size() + m_starts.size() + m_own_bins.size()));
  }

 private:
  /// Entries that all ranks can have in sum.
  static index_t most_sums(const Compressor& compressor, const Layout& layout, const Communicator& comm) {
    return std::min(layout.count(), comm.size() * compressor.most_kept(layout));
  }
  /// Sums that an owner can keep.
  index_t most_own() const { return m_select ? most_kept() : m_most_sums; }

  /// Owner p has the elements [bound(p), bound(p + 1)).
  void set_bound(int p, index_t element) { m_host_bounds[static_cast<std::size_t>(p)] = element; }

  /// A function of the step alone: all ranks agree.
  bool balances() const { return m_ranks > 1 && m_context.step % m_interval == 0; }

  index_t bound(int rank) const { return m_host_bounds[static_cast<std::size_t>(rank)]; }
  Span<float> own_sums() const {
    const int rank = m_comm.rank();
    return subspan<float>(m_sums, bound(rank), bound(rank + 1) - bound(rank));
  }

  void produce(const Exec& exec, int round) override {
    m_round = round;
    if (round == 0) {
      m_list = own_list(exec);
      if (balances()) kernels::equal_parts(exec, m_list.entries, elements(), m_ranks, m_cuts);
    } else if (round == 1) {
      encode_parts(exec);
    } else if (round == 3) {
      m_size = m_wire.encode(exec, m_list, m_send);
    }
  }

  RequestPtr exchange(const Exec& exec, const Message&) override {
    if (m_round == 0 && balances()) {
      return m_comm.allreduce(exec, m_cuts.data(), m_cuts.data(), m_ranks - 1, DType::i64, ReduceOp::sum);
    }
    if (m_round == 1) {
      return m_comm.alltoallv(exec, m_send.data(), m_parts, m_receive.data(), static_cast<index_t>(m_receive.size()),
                              m_part_sizes);
    }
    if (m_round == 2 && m_select) {
      return m_comm.allreduce(exec, m_own_bins.data(), m_all_bins.data(), kernels::magnitude_bins, DType::i32,
                              ReduceOp::sum);
    }
    if (m_round == 3) {
      return m_comm.allgatherv(exec, m_send.data(), m_size, m_receive.data(), static_cast<index_t>(m_receive.size()),
                               m_sizes);
    }
    return std::make_unique<FinishedRequest>(Request::Clock::now());
  }

  void consume(const Exec& exec, int round, const Message&) override {
    if (round == 0 && balances()) {
      download(exec, m_cuts, m_host_cuts);
      for (int p = 1; p < m_ranks; ++p) {
        set_bound(p, m_host_cuts[static_cast<std::size_t>(p - 1)] / m_ranks);
      }
    } else if (round == 1) {
      sum(exec);
    } else if (round == 2) {
      choose(exec);
    }
  }

  /// The own list, cut at the boundaries; a flag goes to all owners.
  void encode_parts(const Exec& exec) {
    Kokkos::deep_copy(exec, m_bounds, HostSpan<const index_t>(m_host_bounds.data(), m_host_bounds.size()));
    kernels::entries_below(exec, m_list.entries, m_bounds, m_starts);
    download(exec, m_starts, m_host_starts);
    index_t end = 0;
    for (std::size_t p = 0; p < m_parts.size.size(); ++p) {
      SparseList part = m_list;
      const index_t first = m_host_starts[p];
      part.entries = {m_list.entries.indices + first, m_list.entries.values + first, m_host_starts[p + 1] - first};
      m_parts.offset[p] = (end + gather_alignment - 1) / gather_alignment * gather_alignment;
      const index_t left = static_cast<index_t>(m_send.size()) - m_parts.offset[p];
      m_parts.size[p] = m_wire.encode(exec, part, subspan<std::byte>(m_send, m_parts.offset[p], left));
      end = m_parts.offset[p] + m_parts.size[p];
    }
  }

  SparseList received(const Exec& exec, const GatherSizes& sizes, int from, index_t capacity, int owner) const {
    const auto r = static_cast<std::size_t>(from);
    const Span<const std::byte> bytes(m_receive.data() + sizes.offset[r], static_cast<std::size_t>(sizes.size[r]));
    return m_wire.decode(exec, bytes, capacity, bound(owner), bound(owner + 1));
  }

  /// Adds up what came for this owner, in rank order.
  void sum(const Exec& exec) {
    const Span<float> own = own_sums();
    Kokkos::deep_copy(exec, own, 0.0f);
    m_largest = 0;
    m_flagged = false;
    for (int r = 0; r < m_ranks; ++r) {
      const SparseList list = received(exec, m_part_sizes.received, r, most_kept(), m_comm.rank());
      m_flagged = m_flagged || list.flagged;
      m_largest = std::max(m_largest, list.message);
      kernels::scatter_add(exec, list.entries.indices, list.entries.values, list.entries.kept, 1.0f, m_sums);
    }
    kernels::magnitude_histogram(exec, own, m_own_bins);
  }

  /// Keeps the own sums above the threshold; a sum that overflowed flags the step.
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
      cut = kernels::cut_of(m_host_all_bins.data(), m_host_own_bins.data(), most_merged(m_largest));
    }
    const Span<float> own = own_sums();
    const index_t first = bound(m_comm.rank());
    const index_t kept = kernels::take_above(exec, own, first, cut, m_indices.data(), m_values.data());
    m_list.entries = {m_indices.data(), m_values.data(), kept};
    m_list.message = kept;
    if (m_select) m_returns.give(exec, m_source, nullptr, first, own.data(), static_cast<index_t>(own.size()));
  }

  bool decompress(const Exec& exec, const Span<float>& out) override {
    Kokkos::deep_copy(exec, out, 0.0f);
    const float weight = 1.0f / static_cast<float>(m_context.ranks);
    bool good = true;
    for (int r = 0; r < m_ranks; ++r) {
      const SparseList list = received(exec, m_sizes, r, most_own(), r);
      good = good && !list.flagged;
      kernels::scatter_add(exec, list.entries.indices, list.entries.values, list.entries.kept, weight, out);
    }
    return good;
  }

  index_t m_interval;
  bool m_select;
  int m_ranks;
  index_t m_most_sums;
  Vector<float> m_sums;  ///< [elements], of which the own range is used; in the end what was dropped
  Vector<std::uint32_t> m_indices;
  Vector<float> m_values;
  Vector<std::byte> m_send, m_receive;
  Vector<index_t> m_cuts, m_bounds, m_starts;  ///< [ranks - 1] proposals and their sum, [ranks + 1], [ranks + 1]
  Vector<std::int32_t> m_own_bins, m_all_bins;
  std::vector<index_t> m_host_cuts, m_host_bounds, m_host_starts;
  std::vector<std::int32_t> m_host_own_bins, m_host_all_bins;
  GatherSizes m_parts, m_sizes;
  PartSizes m_part_sizes;
  int m_round = 0;  ///< the last that was produced
  index_t m_size = 0, m_largest = 0;
  bool m_flagged = false;
  SparseList m_list;  ///< of this rank, then of this owner
};

}  // namespace

std::unique_ptr<Reducer> make_ok_topk(const Options& common, const Compressor& compressor, const Layout& layout,
                                      Communicator& comm) {
  require_sparse("ok_topk", compressor, layout);
  return std::make_unique<OkTopk>(compressor, layout, comm, common.integer("reducer.interval"),
                                  common.text("reducer.select") == "on");
}

}  // namespace gradcomp
