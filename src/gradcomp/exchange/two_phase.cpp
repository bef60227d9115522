#include "gradcomp/exchange/two_phase.hpp"

#include <algorithm>
#include <utility>

#include "gradcomp/exchange/detail/stripe_owner.hpp"
#include "gradcomp/exchange/detail/stripes.hpp"

namespace gradcomp {
namespace {

constexpr index_t aligned(index_t bytes) {
  return (bytes + gather_alignment - 1) / gather_alignment * gather_alignment;
}

Span<const std::byte> payload_of(const Message& message) {
  return Span<const std::byte>(message.payload.data(), static_cast<std::size_t>(message.size));
}

class TwoPhase final : public Reducer {
 public:
  /// `remembers`: whether owners have a residual. The base's State is that of the own stripe's second compression.
  TwoPhase(const Compressor& compressor, std::vector<Stripe> stripes, Communicator& comm, bool remembers)
      : Reducer(compressor, stripes[static_cast<std::size_t>(comm.rank())].layout, comm),
        m_stripes(std::move(stripes)),
        m_rank(static_cast<std::size_t>(comm.rank())),
        m_messages(m_stripes.size()),
        m_owner(compressor, own().count(), remembers) {
    index_t sum = 0, most = 0;
    for (const Stripe& stripe : m_stripes) {
      m_states.push_back(compressor.prepare(stripe.layout));
      m_parts.offset.push_back(sum);
      sum += slot(stripe);
      most = std::max(most, slot(stripe));
    }
    m_parts.size.resize(m_stripes.size());
    const auto ranks = static_cast<index_t>(m_stripes.size());
    m_send = Vector<std::byte>("gradcomp::exchange::two_phase::send", static_cast<std::size_t>(sum));
    m_received = Vector<std::byte>("gradcomp::exchange::two_phase::received",
                                   static_cast<std::size_t>(std::max(sum, ranks * most)));
  }

  int rounds() const override { return 2; }
  index_t buffer_bytes() const override {
    index_t bytes = static_cast<index_t>(m_send.size() + m_received.size()) + m_owner.buffer_bytes();
    for (const auto& state : m_states) bytes += state->scratch_bytes();
    return bytes;
  }
  std::vector<StateView> persistent() override;
  void give_back(const Exec& exec, const Span<float>& out) override;

 private:
  const Stripe& own() const { return m_stripes[m_rank]; }

  /// Bytes that a payload of `stripe` can take in a buffer.
  index_t slot(const Stripe& stripe) const {
    return stripe.count() == 0 ? 0 : aligned(m_compressor.payload_capacity(stripe.layout));
  }
  /// The mean's payload of owner p.
  Span<const std::byte> mean_of(std::size_t p) const {
    return Span<const std::byte>(m_received.data() + m_sizes.offset[p], static_cast<std::size_t>(m_sizes.size[p]));
  }

  void produce(const Exec& exec, int round) override {
    m_round = round;
    if (round == 0) {
      compress_stripes(exec);
    } else if (own().count() > 0) {
      m_owner.compress(exec, *m_state, m_context, m_message);
    }
  }
  void compress_stripes(const Exec& exec);

  RequestPtr exchange(const Exec& exec, const Message& message) override {
    const auto capacity = static_cast<index_t>(m_received.size());
    if (m_round == 0) return m_comm.alltoallv(exec, m_send.data(), m_parts, m_received.data(), capacity, m_part_sizes);
    return m_comm.allgatherv(exec, message.payload.data(), message.size, m_received.data(), capacity, m_sizes);
  }
  MessageBytes handed_over() const override;

  void consume(const Exec& exec, int round, const Message&) override {
    if (round > 0 || own().count() == 0) return;
    m_owner.average(exec, m_received.data(), m_part_sizes.received, *m_states[m_rank]);
  }
  bool decompress(const Exec& exec, const Span<float>& out) override;

  std::vector<Stripe> m_stripes;  ///< [ranks]
  std::size_t m_rank;
  std::vector<std::unique_ptr<State>> m_states;  ///< [ranks] of each stripe's first compression
  std::vector<Message> m_messages;               ///< [ranks] of each stripe
  StripeOwner m_owner;                           ///< of the own stripe
  Vector<std::byte> m_send, m_received;
  GatherSizes m_parts, m_sizes;
  PartSizes m_part_sizes;
  int m_round = 0;
};

void TwoPhase::compress_stripes(const Exec& exec) {
  for (std::size_t p = 0; p < m_stripes.size(); ++p) {
    const Stripe& stripe = m_stripes[p];
    if (stripe.count() == 0) continue;  // nothing travels
    Message& message = m_messages[p] = Message{};
    m_compressor.produce(exec, 0, part_of(m_source, stripe), *m_states[p], m_context, message);
    require(message.size <= slot(stripe), "{}: a payload of {} bytes exceeds its capacity of {}",
            m_compressor.info().name, message.size, slot(stripe));
    m_parts.size[p] = message.size;
    Kokkos::deep_copy(exec, subspan<std::byte>(m_send, m_parts.offset[p], message.size), payload_of(message));
  }
}

MessageBytes TwoPhase::handed_over() const {
  if (m_round > 0) return Reducer::handed_over();
  MessageBytes bytes;
  for (std::size_t p = 0; p < m_stripes.size(); ++p) {
    if (m_stripes[p].count() == 0) continue;
    bytes.header += payload_header_bytes;
    bytes.payload += m_messages[p].size - payload_header_bytes;
  }
  return bytes;
}

bool TwoPhase::decompress(const Exec& exec, const Span<float>& out) {
  bool good = true;
  for (std::size_t p = 0; p < m_stripes.size(); ++p) {
    if (m_stripes[p].count() > 0) good = !read_header(exec, mean_of(p)).skip() && good;
  }
  if (!good) return false;
  Kokkos::deep_copy(exec, out, 0.0f);
  for (std::size_t p = 0; p < m_stripes.size(); ++p) {
    if (m_stripes[p].count() == 0) continue;
    m_compressor.decode_add(exec, mean_of(p), 1.0f, *m_states[p], part_of(out, m_stripes[p]));
  }
  return true;
}

/// Workers take back what they sent of every stripe; the mean is then in their memories again, so the owner forgets it.
void TwoPhase::give_back(const Exec& exec, const Span<float>& out) {
  for (std::size_t p = 0; p < m_stripes.size(); ++p) {
    if (m_stripes[p].count() == 0) continue;
    m_compressor.give_back(exec, part_of(m_source, m_stripes[p]), *m_states[p], m_messages[p],
                           part_of(out, m_stripes[p]));
  }
  m_owner.restore(exec);
}

std::vector<StateView> TwoPhase::persistent() {
  std::vector<StateView> views = m_owner.persistent();
  const auto add = [&](State& state, const std::string& prefix) {
    for (StateView view : state.persistent()) {
      view.name = prefix + view.name;
      views.push_back(std::move(view));
    }
  };
  for (std::size_t p = 0; p < m_stripes.size(); ++p) add(*m_states[p], fmt::format("stripe{}/", p));
  add(*m_state, "owner/");
  return views;
}

}  // namespace

std::unique_ptr<Reducer> make_two_phase(const Options& common, const Compressor& compressor, const Layout& layout,
                                        Communicator& comm) {
  const Info& info = compressor.info();
  require(info.rounds.size() == 1 && info.rounds[0] == MessageKind::bytes,
          "reducer two_phase: it carries one round of bytes, and method {} has other messages", info.name);
  require(info.property != Info::Property::sign,
          "reducer two_phase: it averages, and method {} sends signs; allowed: vote, allgather", info.name);
  require(info.family != Info::Family::sparsifier,
          "reducer two_phase: it compresses a mean of all elements again, and method {} sends chosen ones", info.name);
  const bool remembers = common.text("feedback") != "none" && common.text("reducer.owner_feedback") == "auto";
  return std::make_unique<TwoPhase>(compressor, cut_stripes(layout, info.granule, comm.size()), comm, remembers);
}

}  // namespace gradcomp
