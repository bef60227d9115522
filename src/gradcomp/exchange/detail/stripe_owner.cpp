#include "gradcomp/exchange/detail/stripe_owner.hpp"

namespace gradcomp {

StripeOwner::StripeOwner(const Sender& workers, std::size_t stripe, bool remembers, bool rate_aware)
    : m_compressor(workers.compressor()),
      m_state(m_compressor.prepare(workers.stripes()[stripe].layout)),
      m_mean("gradcomp::exchange::two_phase::mean", static_cast<std::size_t>(workers.stripes()[stripe].count())),
      m_residual("gradcomp::exchange::two_phase::residual", remembers ? m_mean.size() : 0),
      m_rate(remembers && rate_aware) {}

Span<const std::byte> StripeOwner::compress(const Exec& exec, Context context) {
  if (m_mean.size() == 0) return {};
  Step step;
  step.source.count = static_cast<index_t>(m_mean.size());
  step.source.gradient = m_mean.data();
  if (m_residual.size() > 0) {
    step.source.kind = Source::Kind::residual;
    step.source.memory = m_residual.data();
    m_rate.follow(exec, context.rate, m_residual);
  }
  context.rank += context.ranks;
  step.context = context;
  const Message message = m_compressor.produce(exec, 0, step, *m_state);
  m_bytes = bytes_of(message);
  return Span<const std::byte>(message.payload.data(), static_cast<std::size_t>(message.size));
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
