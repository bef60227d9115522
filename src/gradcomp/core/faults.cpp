#include "gradcomp/core/faults.hpp"

#include "gradcomp/core/error.hpp"

namespace gradcomp {

void count_diverged(const Exec& exec, const FaultCounts& faults) {
  Kokkos::parallel_for(
      "gradcomp::core::count_diverged", IndexRange(exec, 0, 1), KOKKOS_LAMBDA(const index_t) { faults.diverged(); });
}

Faults::Faults() : m_counts("gradcomp::core::faults", 2), m_fetched("gradcomp::core::faults_on_host", 2) {}

void Faults::fetch(const Exec& exec) {
  Kokkos::deep_copy(exec, m_fetched, m_counts);
  m_event.record(exec);
}

bool Faults::diverged() const {
  m_event.wait();
  require(m_fetched(1) == 0,
          "a message holds a header, a length, a scale, a code, an index, a value or padding that no sender writes");
  return m_fetched(0) != 0;
}

void Faults::reset(const Exec& exec) { Kokkos::deep_copy(exec, m_counts, index_t{0}); }

}  // namespace gradcomp
