// allgather: one bytes round. Every rank receives all payloads and adds them in rank order: out = sum of decoded / P.
// For methods that send signs, out is the sign of the sum.
#include "gradcomp/exchange/detail/refusals.hpp"
#include "gradcomp/exchange/detail/ties.hpp"
#include "gradcomp/exchange/receiver.hpp"
#include "gradcomp/exchange/reducer.hpp"
#include "gradcomp/kernels/pack/signs.hpp"

namespace gradcomp::reducers {
namespace {

/// Replaces every sum by +-1. A sum of 0 becomes -1 if its element's bit of `ties` is set.
void take_signs(const Exec& exec, const Span<float>& sums, std::uint32_t ties) {
  const auto n = static_cast<index_t>(sums.size());
  Kokkos::parallel_for(
      "gradcomp::exchange::take_signs", IndexRange(exec, 0, n), KOKKOS_LAMBDA(const index_t i) {
        const bool tied = ((ties >> kernels::sign_bit(i, n)) & 1u) != 0;
        sums(i) = sums(i) < 0 || (sums(i) == 0 && tied) ? -1.0f : 1.0f;
      });
}

class Allgather final : public Reducer {
 public:
  explicit Allgather(const ReducerSetup& setup)
      : Reducer(setup),
        m_receiver(setup.sender.compressor(), setup.sender.state()),
        m_slot(aligned(setup.sender.compressor().payload_capacity(setup.sender.state().layout))),
        m_payloads("gradcomp::exchange::allgather::payloads", static_cast<std::size_t>(m_slot * m_ranks)) {}

  index_t buffer_bytes() const override { return static_cast<index_t>(m_payloads.size()); }

  void launch(const Exec& exec, int round, std::vector<Call>& calls) override {
    const Message& message = m_sender.produce(exec, round);
    require(message.size <= m_slot, "{}: a payload of {} bytes exceeds its capacity of {}",
            m_sender.compressor().info().name, message.size, m_slot);
    calls.push_back(AllGatherV{message.payload.data(), message.size, m_payloads.data(), index_t(m_payloads.size())});
  }
  void complete(const Exec&, int, std::span<const Found> found) override { m_blocks = &found[0].blocks; }

  void finish(const Exec& exec) override {
    const Span<float>& mean = m_sender.mean();
    const bool votes = m_sender.compressor().info().property == Info::Property::sign;
    const float weight = votes ? 1.0f : 1.0f / static_cast<float>(m_ranks);
    m_messages.clear();
    for (int r = 0; r < m_ranks; ++r) m_messages.push_back(received(payload(r), r, weight));
    m_receiver.sum(exec, m_messages, mean);
    if (votes) take_signs(exec, mean, tie_bits(m_sender.compressor(), m_sender.context().turn()));
  }

 private:
  Span<const std::byte> payload(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return Span<const std::byte>(m_payloads.data() + m_blocks->offset[r], static_cast<std::size_t>(m_blocks->size[r]));
  }

  Receiver m_receiver;
  index_t m_slot;  ///< bytes of m_payloads for the payload of one rank
  Vector<std::byte> m_payloads;
  const Blocks* m_blocks = nullptr;  ///< places of the payloads
  std::vector<Received> m_messages;  ///< those of one step
};

}  // namespace

ReducerEntry allgather() {
  ReducerEntry entry;
  entry.name = "allgather";
  entry.summary = "every rank receives all payloads and adds them up in rank order";
  entry.refusal = [](const Info& info) -> std::string {
    if (sends_bytes(info)) return "";
    return fmt::format("it carries one round of bytes, and method {} has other messages", info.name);
  };
  entry.make = [](const ReducerSetup& setup) { return std::make_unique<Allgather>(setup); };
  return entry;
}

}  // namespace gradcomp::reducers
