#include "gradcomp/exchange/vote.hpp"

#include "gradcomp/exchange/ties.hpp"
#include "gradcomp/kernels/majority.hpp"

namespace gradcomp {
namespace {

using Words = Vector<std::uint32_t>;
constexpr index_t header_words = payload_header_bytes / 4;

/// In front of every part: what the sender runs, and whether it skips the step.
constexpr index_t spec_word = 0, flags_word = 1, front_words = 2;

class Vote final : public Reducer {
 public:
  Vote(const Compressor& compressor, const Layout& layout, Communicator& comm)
      : Reducer(compressor, layout, comm),
        m_ranks(comm.size()),
        m_words((compressor.payload_capacity(layout) - payload_header_bytes) / 4),
        m_part((m_words + m_ranks - 1) / m_ranks),
        m_send("gradcomp::exchange::vote::send", static_cast<std::size_t>(m_ranks * (front_words + m_part))),
        m_received("gradcomp::exchange::vote::received", m_send.size()),
        m_outcome("gradcomp::exchange::vote::outcome", static_cast<std::size_t>(m_part)),
        m_payload("gradcomp::exchange::vote::payload", static_cast<std::size_t>(header_words + m_ranks * m_part)),
        m_fronts(static_cast<std::size_t>(front_words * m_ranks)) {}

  int rounds() const override { return 2; }
  index_t buffer_bytes() const override {
    return 4 * static_cast<index_t>(m_send.size() + m_received.size() + m_outcome.size() + m_payload.size());
  }

 private:
  void produce(const Exec& exec, int round) override {
    m_round = round;
    if (round > 0) return;
    Reducer::produce(exec, round);
    m_own = m_message;
    m_header = read_header(exec, own_payload());
    require(m_header.skip() || m_own.size == payload_header_bytes + 4 * m_words, "{}: {} bytes of signs, expected {}",
            m_compressor.info().name, m_own.size - payload_header_bytes, 4 * m_words);
    write_parts(exec);
  }

  Span<const std::byte> own_payload() const {
    return Span<const std::byte>(m_own.payload.data(), static_cast<std::size_t>(m_own.size));
  }

  /// Of a flagged message zeros.
  void write_parts(const Exec& exec);

  RequestPtr exchange(const Exec& exec, const Message&) override {
    if (m_round == 0) {
      return m_comm.alltoall(exec, m_send.data(), m_received.data(), front_words + m_part, DType::i32);
    }
    return m_comm.allgather(exec, m_outcome.data(), m_payload.data() + header_words, m_part, DType::i32);
  }

  void consume(const Exec& exec, int round, const Message&) override {
    if (round > 0) return;
    read_fronts(exec);
    kernels::majority_words(exec, m_received.data() + front_words, front_words + m_part, m_ranks, m_part,
                            tie_bits(m_compressor, m_context.step), m_outcome.data());
  }

  /// Every rank hears of every flag, since each sends a part to all.
  void read_fronts(const Exec& exec);

  /// The outcome is a message of the method itself: its own decoder knows where the bits belong.
  bool decompress(const Exec& exec, const Span<float>& out) override {
    if (m_flagged) return false;
    const auto bytes = static_cast<std::size_t>(payload_header_bytes + 4 * m_words);
    const Span<std::byte> payload(reinterpret_cast<std::byte*>(m_payload.data()), bytes);
    write_header(exec, m_header, payload);
    Kokkos::deep_copy(exec, out, 0.0f);
    m_compressor.decode_add(exec, payload, 1.0f, *m_state, out);
    return true;
  }

  int m_ranks;
  index_t m_words, m_part;  ///< sign words of a message, and of an owner
  Words m_send;             ///< [ranks][front_words + part]
  Words m_received;         ///< the same, by sender
  Words m_outcome;          ///< [part] of this owner
  Words m_payload;          ///< header and the words of all owners
  std::vector<std::uint32_t> m_fronts;
  Message m_own;
  PayloadHeader m_header;
  int m_round = 0;
  bool m_flagged = false;
};

/// parts[r] = front and the r-th part of `words`, with zeros behind the last; `words` null: zeros.
void cut_parts(const Exec& exec, const std::uint32_t* words, index_t count, index_t part, std::uint32_t spec,
               const Words& parts) {
  Kokkos::parallel_for(
      "gradcomp::exchange::cut_parts",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, static_cast<index_t>(parts.size())),
      KOKKOS_LAMBDA(const index_t i) {
        const index_t rank = i / (front_words + part), at = i % (front_words + part);
        const index_t w = rank * part + at - front_words;
        parts(i) = at == spec_word                 ? spec
                   : at == flags_word              ? (words == nullptr ? PayloadHeader::flag_skip : 0u)
                   : words != nullptr && w < count ? words[w]
                                                   : 0u;
      });
}

void Vote::write_parts(const Exec& exec) {
  const std::byte* const sections = m_own.payload.data() + payload_header_bytes;
  cut_parts(exec, m_header.skip() ? nullptr : reinterpret_cast<const std::uint32_t*>(sections), m_words, m_part,
            m_header.spec ^ m_header.method, m_send);
}

/// fronts[front_words * r + k] = word k in front of the part of rank r.
void gather_fronts(const Exec& exec, const Words& parts, index_t stride, const Words& fronts) {
  Kokkos::parallel_for(
      "gradcomp::exchange::gather_fronts",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, static_cast<index_t>(fronts.size())),
      KOKKOS_LAMBDA(const index_t i) { fronts(i) = parts(i / front_words * stride + i % front_words); });
}

void Vote::read_fronts(const Exec& exec) {
  // m_send is free again, and never smaller
  const Words fronts(m_send, Kokkos::make_pair(std::size_t{0}, m_fronts.size()));
  gather_fronts(exec, m_received, front_words + m_part, fronts);
  Kokkos::deep_copy(exec, HostSpan<std::uint32_t>(m_fronts.data(), m_fronts.size()), fronts);
  exec.fence("gradcomp::exchange::vote");
  m_flagged = false;
  for (std::size_t r = 0; r < m_fronts.size() / front_words; ++r) {
    const std::uint32_t spec = m_fronts[front_words * r + spec_word], flags = m_fronts[front_words * r + flags_word];
    require(spec == (m_header.spec ^ m_header.method) && flags <= PayloadHeader::flag_skip,
            "reducer vote: rank {} sent signs of another method (ranks with different options?)", r);
    m_flagged = m_flagged || flags == PayloadHeader::flag_skip;
  }
}

}  // namespace

std::unique_ptr<Reducer> make_vote(const Options&, const Compressor& compressor, const Layout& layout,
                                   Communicator& comm) {
  require(compressor.info().property == Info::Property::sign,
          "reducer vote: it counts signs, and method {} sends other messages", compressor.info().name);
  return std::make_unique<Vote>(compressor, layout, comm);
}

}  // namespace gradcomp
