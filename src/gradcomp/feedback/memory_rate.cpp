#include "gradcomp/feedback/memory_rate.hpp"

#include <utility>

#include "gradcomp/core/source.hpp"

namespace gradcomp {

MemoryRate::MemoryRate(bool aware) : m_rate("gradcomp::feedback::rate", aware ? 1 : 0) {}

void MemoryRate::follow(const Exec& exec, double rate, const Span<float>& memory) const {
  if (!is_aware() || rate == 0) return;
  const double before = std::exchange(m_rate(0), rate);
  if (before == rate) return;
  const auto factor = static_cast<float>(before / rate);
  Kokkos::parallel_for(
      "gradcomp::feedback::follow_rate", IndexRange(exec, 0, static_cast<index_t>(memory.size())),
      KOKKOS_LAMBDA(const index_t i) {
        const float scaled = factor * memory(i);
        if (Source::is_finite(scaled)) memory(i) = scaled;
      });
}

MemoryView MemoryRate::memory(Role role, std::string name) const {
  return {std::move(name), m_rate.data(), static_cast<index_t>(m_rate.size() * sizeof(double)), true, role, -1};
}

}  // namespace gradcomp
