// vote: majority of signs, in two hops. Rank r owns the r-th part of the sign words. It receives this part from all
// ranks and counts, and all ranks receive the words of the outcome. out = -1 if more than half of the ranks have the
// bit set, and +1 if fewer; the method decides ties (detail/ties.hpp). Each rank sends about n / 8 bytes in each hop
// for any number of ranks; with the reducer allgather it receives n / 8 bytes from every rank.
#include <cstddef>

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/exchange/detail/ties.hpp"
#include "gradcomp/exchange/receiver.hpp"
#include "gradcomp/exchange/reducer.hpp"
#include "gradcomp/kernels/pack/majority.hpp"

namespace gradcomp::reducers {
namespace {

using Words = Vector<std::uint32_t>;
constexpr index_t header_words = payload_header_bytes / 4;

/// The words before every part: what the sender runs, and whether its gradient was not finite.
constexpr index_t spec_word = 0, flags_word = 1, front_words = 2;

/// parts[r] = the front words and the r-th part of the sign words of `payload`; zeros behind the last word.
void cut_parts(const Exec& exec, const Span<const std::byte>& payload, index_t count, index_t part, std::uint32_t spec,
               const Words& parts) {
  const auto* const words = reinterpret_cast<const std::uint32_t*>(payload.data());
  constexpr auto flags_at = static_cast<index_t>(offsetof(PayloadHeader, flags) / 4);
  Kokkos::parallel_for(
      "gradcomp::exchange::cut_parts", IndexRange(exec, 0, static_cast<index_t>(parts.size())),
      KOKKOS_LAMBDA(const index_t i) {
        const index_t rank = i / (front_words + part), at = i % (front_words + part);
        const index_t w = rank * part + at - front_words;
        parts(i) = at == spec_word    ? spec
                   : at == flags_word ? words[flags_at] & PayloadHeader::flag_diverged
                   : w < count        ? words[header_words + w]
                                      : 0u;
      });
}

/// Counts what the fronts say. Every rank sees every flag, because each sends a part to all.
void check_fronts(const Exec& exec, const Words& parts, index_t stride, int ranks, std::uint32_t spec,
                  const FaultCounts& faults) {
  Kokkos::parallel_for(
      "gradcomp::exchange::check_fronts", IndexRange(exec, 0, ranks), KOKKOS_LAMBDA(const int r) {
        const std::uint32_t flags = parts(r * stride + flags_word);
        if (flags == PayloadHeader::flag_diverged) faults.diverged();
        if (parts(r * stride + spec_word) != spec || flags > PayloadHeader::flag_diverged) faults.broken();
      });
}

class Vote final : public Reducer {
 public:
  explicit Vote(const ReducerSetup& setup)
      : Reducer(setup),
        m_receiver(setup.sender.compressor(), setup.sender.state()),
        m_words((setup.sender.compressor().payload_capacity(setup.sender.state().layout) - payload_header_bytes) / 4),
        m_part((m_words + m_ranks - 1) / m_ranks),
        m_send("gradcomp::exchange::vote::send", static_cast<std::size_t>(m_ranks * (front_words + m_part))),
        m_received("gradcomp::exchange::vote::received", m_send.size()),
        m_outcome("gradcomp::exchange::vote::outcome", static_cast<std::size_t>(m_part)),
        m_payload("gradcomp::exchange::vote::payload", static_cast<std::size_t>(header_words + m_ranks * m_part)),
        m_header(setup.sender.compressor().header(setup.sender.count(), setup.sender.count())) {
    const Exec exec;
    write_header(exec, m_header, payload());
    wait(exec, "gradcomp::exchange::vote");
  }

  int rounds() const override { return 2; }
  index_t buffer_bytes() const override {
    return 4 * static_cast<index_t>(m_send.size() + m_received.size() + m_outcome.size() + m_payload.size());
  }

  void launch(const Exec& exec, int round, std::vector<Call>& calls) override {
    if (round > 0) {
      calls.push_back(AllGather{m_outcome.data(), m_payload.data() + header_words, m_part, DType::i32});
      return;
    }
    m_sender.produce(exec, round);
    cut_parts(exec, m_sender.message().payload, m_words, m_part, spec(), m_send);
    calls.push_back(AllToAll{m_send.data(), m_received.data(), front_words + m_part, DType::i32});
  }

  void complete(const Exec& exec, int round, std::span<const Found>) override {
    if (round > 0) return;
    check_fronts(exec, m_received, front_words + m_part, m_ranks, spec(), m_sender.faults());
    kernels::majority_words(exec, m_received.data() + front_words, front_words + m_part, m_ranks, m_part,
                            tie_bits(m_sender.compressor(), m_sender.context().turn()), m_outcome.data());
  }

  /// Reads the outcome as a message of the method itself, whose decoder knows where the bits belong.
  void finish(const Exec& exec) override {
    const Span<float>& mean = m_sender.mean();
    Kokkos::deep_copy(exec, mean, 0.0f);
    m_receiver.add(exec, received(payload(), m_rank, 1.0f), mean);
  }

 private:
  Span<std::byte> payload() const {
    return Span<std::byte>(reinterpret_cast<std::byte*>(m_payload.data()),
                           static_cast<std::size_t>(payload_header_bytes + 4 * m_words));
  }
  std::uint32_t spec() const { return m_header.spec ^ m_header.method; }

  Receiver m_receiver;
  index_t m_words, m_part;  ///< number of sign words of a message, and of an owner
  Words m_send;             ///< [ranks][front_words + part]
  Words m_received;         ///< [senders][front_words + part]
  Words m_outcome;          ///< [part] of this owner
  Words m_payload;          ///< header and the words of all owners
  PayloadHeader m_header;   ///< of every message, and of the outcome
};

}  // namespace

ReducerEntry vote() {
  ReducerEntry entry;
  entry.name = "vote";
  entry.summary = "each rank owns a part of the sign bits and counts the votes; all ranks receive the majority";
  entry.refusal = [](const Info& info) -> std::string {
    if (info.votes) return "";
    return fmt::format("it counts signs, and method {} sends other messages", info.name);
  };
  entry.make = [](const ReducerSetup& setup) { return std::make_unique<Vote>(setup); };
  return entry;
}

}  // namespace gradcomp::reducers
