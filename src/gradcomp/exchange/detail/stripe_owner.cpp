#include "gradcomp/exchange/detail/stripe_owner.hpp"

namespace gradcomp {

StripeOwner::StripeOwner(const Sender& workers, std::size_t stripe, bool remembers, bool rate_aware)
    : m_compressor(workers.compressor()),
      m_state(m_compressor.prepare(workers.stripes()[stripe].layout)),
      m_mean("gradcomp::exchange::two_phase::mean", static_cast<std::size_t>(workers.stripes()[stripe].count())),
      m_residual("gradcomp::exchange::two_phase::residual", remembers ? m_mean.size() : 0),
      m_before("gradcomp::exchange::two_phase::before", m_residual.size()),
      m_rate(remembers && rate_aware) {
  if (remembers) m_state->remember();
}

void StripeOwner::average(const Exec& exec, const std::byte* received, const Blocks& blocks, const Receiver& receiver) {
  m_verdict.clear(exec);
  if (m_mean.size() == 0) return;
  Kokkos::deep_copy(exec, m_mean, 0.0f);
  const float weight = 1.0f / static_cast<float>(blocks.size.size());
  for (std::size_t r = 0; r < blocks.size.size(); ++r) {
    const Span<const std::byte> payload(received + blocks.offset[r], static_cast<std::size_t>(blocks.size[r]));
    receiver.add(exec, payload, weight, m_mean, m_verdict);  // adds nothing for a flagged payload
  }
}

void poison(const Exec& exec, const Span<const std::uint32_t>& flags, const Span<float>& sum) {
  Kokkos::parallel_for(
      "gradcomp::exchange::poison", IndexRange(exec, 0, 1), KOKKOS_LAMBDA(const int) {
        if (flags(0) != 0) sum(0) = Kokkos::Experimental::quiet_NaN_v<float>;
      });
}

Span<const std::byte> StripeOwner::compress(const Exec& exec, Context context) {
  if (m_mean.size() == 0) return {};
  poison(exec, m_verdict.flags(), m_mean);
  Source source;
  source.count = static_cast<index_t>(m_mean.size());
  source.gradient = m_mean.data();
  if (m_residual.size() > 0) {
    source.kind = Source::Kind::residual;
    source.memory = m_residual.data();
    m_rate.follow(exec, context.rate, m_residual);
    Kokkos::deep_copy(exec, m_before, m_residual);
  }
  context.rank += context.ranks;
  m_message = Message{};
  m_compressor.produce(exec, 0, source, *m_state, context, m_message);
  m_bytes = bytes_of(m_message);
  return Span<const std::byte>(m_message.payload.data(), static_cast<std::size_t>(m_message.size));
}

Memories StripeOwner::memories() const {
  Memories all;
  if (m_residual.size() > 0) all.push_back(memory_of(Role::owner_residual, m_residual));
  if (m_rate.is_aware()) all.push_back(m_rate.memory(Role::reducer, "owner_rate"));
  for (MemoryView& memory : m_state->memories()) {
    memory.name = "owner/" + memory.name;
    all.push_back(std::move(memory));
  }
  return all;
}

}  // namespace gradcomp
