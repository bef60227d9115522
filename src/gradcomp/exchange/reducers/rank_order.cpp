// rank_order: summable messages in two exchanges. The message is cut into equal parts, one per rank. First every rank
// sends each part to its owner (alltoall), which combines what it has from all ranks: in rank order, and 16-bit floats
// in 32 bits, rounded once. Then the owners send their results to all ranks (allgather). A rank sends 2 (P - 1) / P of
// the message, as in a ring. The result has the same bits over any transport, because no library adds.
#include "gradcomp/exchange/detail/refusals.hpp"
#include "gradcomp/exchange/reducer.hpp"
#include "gradcomp/kernels/lanes/combine.hpp"

namespace gradcomp::reducers {
namespace {

class RankOrder final : public Reducer {
 public:
  explicit RankOrder(const ReducerSetup& setup) : Reducer(setup) {
    const Layout& layout = setup.sender.stripes()[0].layout;
    const index_t bytes = setup.sender.compressor().payload_bytes(layout, layout.count()) +
                          m_ranks * static_cast<index_t>(sizeof(std::int64_t));  // the last parts are filled up
    m_parts = Vector<std::byte>("gradcomp::exchange::rank_order::parts", static_cast<std::size_t>(bytes));
    m_received = Vector<std::byte>("gradcomp::exchange::rank_order::received", static_cast<std::size_t>(bytes));
  }

  int rounds() const override { return 2 * m_sender.rounds(); }
  index_t buffer_bytes() const override { return static_cast<index_t>(m_parts.size() + m_received.size()); }

  void launch(const Exec& exec, int round, std::vector<Call>& calls) override;
  void complete(const Exec& exec, int round, std::span<const Found> found) override;
  void finish(const Exec& exec) override { m_sender.finish(exec); }

 private:
  /// Elements of a part.
  index_t part() const { return (m_sender.message().count + m_ranks - 1) / m_ranks; }
  /// This rank's sums, in the place of its own part.
  std::byte* own() const { return m_parts.data() + m_rank * part() * size_of(m_sender.message().dtype); }

  Vector<std::byte> m_parts, m_received;  ///< [ranks][part()]
};

void RankOrder::launch(const Exec& exec, int round, std::vector<Call>& calls) {
  if (round % 2 == 1) {
    calls.push_back(AllGather{own(), m_received.data(), part(), m_sender.message().dtype});
    return;
  }
  const Message& m = m_sender.produce(exec, round / 2);
  require(m_ranks * part() * size_of(m.dtype) <= static_cast<index_t>(m_parts.size()),
          "{}: a message of {} bytes exceeds its capacity", m_sender.compressor().info().name, m.bytes());
  const auto bytes = static_cast<std::size_t>(m.bytes());
  Kokkos::deep_copy(exec, Span<std::byte>(m_parts.data(), bytes),
                    Span<const std::byte>(static_cast<const std::byte*>(m.data), bytes));
  calls.push_back(AllToAll{m_parts.data(), m_received.data(), part(), m.dtype});
}

void RankOrder::complete(const Exec& exec, int round, std::span<const Found>) {
  const Message& m = m_sender.message();
  if (round % 2 == 0) {
    kernels::combine_terms(exec, m.dtype, m.op, m_received.data(), m_ranks, part(), own());
    return;
  }
  const auto bytes = static_cast<std::size_t>(m.bytes());
  Kokkos::deep_copy(exec, Span<std::byte>(static_cast<std::byte*>(m.result), bytes),
                    Span<const std::byte>(m_received.data(), bytes));
  m_sender.consume(exec, round / 2);
}

}  // namespace

ReducerEntry rank_order() {
  ReducerEntry entry;
  entry.name = "rank_order";
  entry.summary = "owners of parts add them in rank order, 16-bit values in 32 bits, and send the sums to all ranks";
  entry.refusal = refuses_unsummable;
  entry.make = [](const ReducerSetup& setup) { return std::make_unique<RankOrder>(setup); };
  return entry;
}

}  // namespace gradcomp::reducers
