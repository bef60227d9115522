// requantising_ring: a ring whose ranks decode what they receive, add their own share and compress the sum again. It
// shows what a codec costs where clusters reduce by rings (C-Coll, Huang et al., IPDPS 2024; DynamiQ, 2026). A bucket
// is cut into one stripe per rank (detail/stripes.hpp).
//   rounds 0 .. P-2  rank r compresses stripe r - round, from its own gradient and what it received, and sends it on
//   round P-1        rank r compresses stripe r + 1, to which all ranks have now added, and all receive it (allgatherv)
// out = what the last payloads decode to, divided by P. A rank sends 2 (P - 1) / P payloads, in P - 1 hops and an
// allgather. It compresses every stripe once, as a sum of 1 to P shares. So the errors of P compressions add up, and
// scales follow sums that grow.
//
// With feedback=residual each rank keeps what its own compressions lost, for every stripe, in units of the sum. As with
// every other reducer P out + sum of memories = sum of a. Other kinds, feedback.gamma and feedback.clip are refused,
// because they would scale what the other ranks have added.
#include <algorithm>

#include "gradcomp/exchange/detail/refusals.hpp"
#include "gradcomp/exchange/receiver.hpp"
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {

namespace {

class RequantisingRing final : public Reducer {
 public:
  explicit RequantisingRing(const ReducerSetup& setup)
      : Reducer(setup),
        m_tag(setup.first_tag),
        m_sum("gradcomp::exchange::requantising_ring::sum", static_cast<std::size_t>(setup.sender.count())) {
    index_t all = 0, most = 0;
    for (std::size_t p = 0; p < stripes().size(); ++p) {
      m_receivers.emplace_back(setup.sender.compressor(), setup.sender.state(p));
      const Stripe& part = stripes()[p];
      const index_t slot = part.count() == 0 ? 0 : aligned(setup.sender.compressor().payload_capacity(part.layout));
      all += slot;
      most = std::max(most, slot);
    }
    m_received = Vector<std::byte>("gradcomp::exchange::requantising_ring::received",
                                   static_cast<std::size_t>(std::max(all, most)));
  }

  int rounds() const override { return m_ranks; }
  index_t buffer_bytes() const override { return static_cast<index_t>(m_received.size() + 4 * m_sum.size()); }

  void launch(const Exec& exec, int round, std::vector<Call>& calls) override {
    if (round == 0) begin(exec);
    const std::size_t sent = place(m_rank - round);
    const Span<const std::byte> payload = compress(exec, sent);
    if (round == m_ranks - 1) {
      const auto room = static_cast<index_t>(m_received.size());
      calls.push_back(AllGatherV{payload.data(), static_cast<index_t>(payload.size()), m_received.data(), room});
      return;
    }
    const auto to = static_cast<int>(place(m_rank + 1)), from = static_cast<int>(place(m_rank - 1));
    if (payload.size() > 0) calls.push_back(Send{payload.data(), static_cast<index_t>(payload.size()), to, m_tag});
    if (stripes()[coming(round)].count() == 0) return;
    calls.push_back(Receive{m_received.data(), static_cast<index_t>(m_received.size()), from, m_tag});
  }

  void complete(const Exec& exec, int round, std::span<const Found> found) override {
    if (round == m_ranks - 1) {
      m_blocks = &found[0].blocks;
      return;
    }
    const std::size_t came = coming(round);
    if (stripes()[came].count() == 0) return;
    const Span<const std::byte> payload(m_received.data(), static_cast<std::size_t>(found.back().bytes));
    m_receivers[came].add(exec, received(payload, static_cast<int>(place(m_rank - 1)), 1.0f),
                          part_of(m_sum, stripes()[came]));
  }

  void finish(const Exec& exec) override {
    const Span<float>& mean = m_sender.mean();
    const float weight = 1.0f / static_cast<float>(m_ranks);
    Kokkos::deep_copy(exec, mean, 0.0f);
    for (int r = 0; r < m_ranks; ++r) {
      const std::size_t from = static_cast<std::size_t>(r), stripe = place(r + 1);
      if (stripes()[stripe].count() == 0) continue;
      const Span<const std::byte> payload(m_received.data() + m_blocks->offset[from],
                                          static_cast<std::size_t>(m_blocks->size[from]));
      m_receivers[stripe].add(exec, received(payload, r, weight), part_of(mean, stripes()[stripe]));
    }
  }

 private:
  const std::vector<Stripe>& stripes() const { return m_sender.stripes(); }
  std::size_t place(int number) const { return static_cast<std::size_t>((number % m_ranks + m_ranks) % m_ranks); }
  /// The stripe that this rank receives in `round`.
  std::size_t coming(int round) const { return place(m_rank - 1 - round); }

  /// From now on messages are made of the sums. A sum is the own gradient until something is received for it.
  void begin(const Exec& exec) {
    Kokkos::deep_copy(exec, m_sum, Span<const float>(m_sender.source().gradient, m_sum.size()));
    m_sender.read_from(m_sum);
  }
  Span<const std::byte> compress(const Exec& exec, std::size_t stripe) {
    if (stripes()[stripe].count() == 0) return {};
    m_sender.produce(exec, 0, stripe);
    return m_sender.payload(stripe);
  }

  int m_tag;
  Vector<float> m_sum;                ///< own gradient, and what was received of each stripe
  std::vector<Receiver> m_receivers;  ///< [stripes]
  Vector<std::byte> m_received;
  const Blocks* m_blocks = nullptr;  ///< places of the last payloads
};

}  // namespace

ReducerEntry requantising_ring() {
  ReducerEntry entry;
  entry.name = "requantising_ring";
  entry.summary = "stripes go round a ring; each rank decodes a stripe, adds its share and compresses the sum again";
  entry.refusal = refuses_striped;
  entry.make = [](const ReducerSetup& setup) {
    const std::string& feedback = setup.common.text("feedback");
    require(
        feedback == "none" || (feedback == "residual" && setup.common.real("feedback.gamma") == 1 &&
                               setup.common.real("feedback.clip") == 0),
        "reducer requantising_ring: feedback={} would scale what other ranks have added; allowed: none, and residual "
        "without feedback.gamma and feedback.clip",
        feedback);
    return std::make_unique<RequantisingRing>(setup);
  };
  entry.striped = true;
  return entry;
}

}  // namespace gradcomp::reducers
