// two_phase: one bytes round; owners of stripes average and compress again (1-bit SGD; Seide et al., Interspeech 2014,
// section 3.3).
//   round 0  every rank compresses each stripe (detail/stripes.hpp) of its source; the payloads go to the owners
//            (alltoallv)
//   round 1  owners decode, average in rank order and compress the mean, which all ranks receive (allgatherv)
// out = what the owners' payloads decode to. A rank sends about 2 (W - 1) / W payloads for any number of ranks W; with
// the reducer allgather it receives W - 1. Everything is compressed twice, even on a single rank, which is the only
// owner.
//
// If the method runs with a memory, each owner feeds back its own error, whatever kind of feedback the workers have: it
// compresses mean + e and keeps e = mean + e - decoded, a residual of its stripe. So the sum over steps of out + mean
// over ranks of the memories + the owners' residuals = the sum of the mean gradients. reducer.owner_feedback=none:
// owners have no residual, and what the second compression loses is lost. The second compression uses the random
// numbers of a rank W + owner.
//
// Reported bytes: payloads of all stripes, and the payload of the own stripe's mean; each has a header.
#include <algorithm>

#include "gradcomp/exchange/detail/refusals.hpp"
#include "gradcomp/exchange/detail/stripe_owner.hpp"
#include "gradcomp/exchange/receiver.hpp"
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
namespace {

class TwoPhase final : public Reducer {
 public:
  /// `remembers`: whether owners have a residual.
  TwoPhase(const ReducerSetup& setup, bool remembers)
      : Reducer(setup),
        m_own(static_cast<std::size_t>(setup.rank)),
        m_owner(setup.sender, m_own, remembers, is_rate_aware(setup.common)) {
    index_t sum = 0, most = 0;
    for (std::size_t p = 0; p < stripes().size(); ++p) {
      m_receivers.emplace_back(setup.sender.compressor(), setup.sender.state(p));
      m_parts.offset.push_back(sum);
      sum += slot(p);
      most = std::max(most, slot(p));
    }
    m_parts.size.resize(stripes().size());
    m_send = Vector<std::byte>("gradcomp::exchange::two_phase::send", static_cast<std::size_t>(sum));
    m_received = Vector<std::byte>("gradcomp::exchange::two_phase::received",
                                   static_cast<std::size_t>(std::max(sum, m_ranks * most)));
  }

  int rounds() const override { return 2; }
  index_t buffer_bytes() const override {
    return static_cast<index_t>(m_send.size() + m_received.size()) + m_owner.buffer_bytes();
  }
  Memories memories() override { return m_owner.memories(); }
  MessageBytes more_bytes() const override { return m_owner.bytes(); }

  void launch(const Exec& exec, int round, std::vector<Call>& calls) override {
    const auto room = static_cast<index_t>(m_received.size());
    if (round == 0) {
      m_owner.begin();
      compress_stripes(exec);
      calls.push_back(AllToAllV{m_send.data(), &m_parts, m_received.data(), room});
    } else {
      const Span<const std::byte> mean = m_owner.compress(exec, m_sender.context());
      calls.push_back(AllGatherV{mean.data(), static_cast<index_t>(mean.size()), m_received.data(), room});
    }
  }

  void complete(const Exec& exec, int round, std::span<const Found> found) override {
    m_blocks = &found[0].blocks;
    if (round == 0) average(exec);
  }

  void finish(const Exec& exec) override;

 private:
  const std::vector<Stripe>& stripes() const { return m_sender.stripes(); }

  /// Bytes of a buffer for a payload of stripe p.
  index_t slot(std::size_t p) const {
    return stripes()[p].count() == 0 ? 0 : aligned(m_sender.compressor().payload_capacity(stripes()[p].layout));
  }
  /// What came from a rank.
  Span<const std::byte> block(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return Span<const std::byte>(m_received.data() + m_blocks->offset[r], static_cast<std::size_t>(m_blocks->size[r]));
  }
  void compress_stripes(const Exec& exec);
  void average(const Exec& exec);

  std::size_t m_own;                  ///< this rank's stripe
  StripeOwner m_owner;                ///< of m_own
  std::vector<Receiver> m_receivers;  ///< [ranks]
  Vector<std::byte> m_send, m_received;
  Blocks m_parts;
  const Blocks* m_blocks = nullptr;  ///< places of what was received last
  std::vector<Received> m_messages;  ///< those of the own stripe
};

void TwoPhase::compress_stripes(const Exec& exec) {
  for (std::size_t p = 0; p < stripes().size(); ++p) {
    if (stripes()[p].count() == 0) continue;  // nothing travels
    const Message& message = m_sender.produce(exec, 0, p);
    require(message.size <= slot(p), "{}: a payload of {} bytes exceeds its capacity of {}",
            m_sender.compressor().info().name, message.size, slot(p));
    m_parts.size[p] = message.size;
    Kokkos::deep_copy(exec, subspan<std::byte>(m_send, m_parts.offset[p], message.size), m_sender.payload(p));
  }
}

/// Averages what came for the own stripe, in rank order.
void TwoPhase::average(const Exec& exec) {
  const Span<float>& mean = m_owner.mean();
  if (mean.size() == 0) return;
  m_messages.clear();
  for (int r = 0; r < m_ranks; ++r) m_messages.push_back(received(block(r), r, 1.0f / static_cast<float>(m_ranks)));
  m_receivers[m_own].sum(exec, m_messages, mean);
}

void TwoPhase::finish(const Exec& exec) {
  for (int p = 0; p < m_ranks; ++p) {
    const auto stripe = static_cast<std::size_t>(p);
    if (stripes()[stripe].count() == 0) continue;
    const Received one = received(block(p), m_ranks + p, 1.0f);
    m_receivers[stripe].sum(exec, {&one, 1}, part_of(m_sender.mean(), stripes()[stripe]));
  }
}

}  // namespace

ReducerEntry two_phase() {
  ReducerEntry entry;
  entry.name = "two_phase";
  entry.summary =
      "each rank owns a stripe, averages what it receives for it, compresses the mean again and sends it to all ranks";
  entry.parameters = {
      Parameter::choice("reducer.owner_feedback", "auto", {"auto", "none"},
                        "two_phase: auto: owners keep a residual if the method runs with a feedback; none: they keep "
                        "none")};
  entry.refusal = refuses_striped;
  entry.make = [](const ReducerSetup& setup) {
    const bool feedback = setup.common.text("feedback") != "none";
    return std::make_unique<TwoPhase>(setup, feedback && setup.common.text("reducer.owner_feedback") == "auto");
  };
  entry.striped = true;
  return entry;
}

}  // namespace gradcomp::reducers
