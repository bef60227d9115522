#include "gradcomp/exchange/detail/stripe_owner.hpp"

namespace gradcomp {

StripeOwner::StripeOwner(const Compressor& compressor, index_t count, bool remembers)
    : m_compressor(compressor),
      m_mean("gradcomp::exchange::two_phase::mean", static_cast<std::size_t>(count)),
      m_residual("gradcomp::exchange::two_phase::residual", remembers ? m_mean.size() : 0),
      m_before("gradcomp::exchange::two_phase::before", m_residual.size()) {}

void StripeOwner::average(const Exec& exec, const std::byte* received, const GatherSizes& sizes, State& state) {
  const auto payload = [&](std::size_t r) {
    return Span<const std::byte>(received + sizes.offset[r], static_cast<std::size_t>(sizes.size[r]));
  };
  m_flagged = false;
  Kokkos::deep_copy(exec, m_mean, 0.0f);
  const float weight = 1.0f / static_cast<float>(sizes.size.size());
  for (std::size_t r = 0; r < sizes.size.size(); ++r) {
    m_flagged = read_header(exec, payload(r)).skip() || m_flagged;
    m_compressor.decode_add(exec, payload(r), weight, state, m_mean);  // of a flagged one nothing
  }
}

void StripeOwner::compress(const Exec& exec, State& state, Context context, Message& message) {
  // what makes the method send its own flag
  if (m_flagged) Kokkos::deep_copy(exec, Kokkos::subview(m_mean, 0), Kokkos::Experimental::quiet_NaN_v<float>);
  Source source;
  source.count = static_cast<index_t>(m_mean.size());
  source.gradient = m_mean.data();
  if (m_residual.size() > 0) {
    source.kind = Source::Kind::residual;
    source.memory = m_residual.data();
    Kokkos::deep_copy(exec, m_before, m_residual);
  }
  context.rank += context.ranks;
  m_compressor.produce(exec, 0, source, state, context, message);
}

std::vector<StateView> StripeOwner::persistent() const {
  if (m_residual.size() == 0) return {};
  return {{"owner_residual", m_residual.data(), 4 * static_cast<index_t>(m_residual.size()), false}};
}

}  // namespace gradcomp
