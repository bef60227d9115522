#pragma once
// What kernels find wrong in a run: values that are not finite, and messages that no sender writes. Nothing is undone:
// a run with one of them ends. Hence the counts are zero until then, and nobody clears them in a run.
#include "gradcomp/core/event.hpp"
#include "gradcomp/core/shared.hpp"

namespace gradcomp {

/// What kernels capture. Without counts, nothing is counted.
struct FaultCounts {
  index_t* at = nullptr;

  /// Some rank had a value that is not finite.
  KOKKOS_FUNCTION void diverged() const { add(0); }
  /// A message holds something that no sender writes.
  KOKKOS_FUNCTION void broken() const { add(1); }

 private:
  KOKKOS_FUNCTION void add(int which) const {
    if (at != nullptr) Kokkos::atomic_inc(at + which);
  }
};

/// FaultCounts::diverged() from the host, ordered on exec: for methods whose host reads what it received.
void count_diverged(const Exec& exec, const FaultCounts& faults);

/// The counts of one run. One object serves all buckets.
class Faults {
 public:
  Faults();

  FaultCounts counts() const { return {m_counts.data()}; }
  /// Begins to copy the counts to the host, after exec's earlier work.
  void fetch(const Exec& exec);
  /// Whether some rank's values were not finite, as of the last fetch(), for which it waits on a device. Throws Error
  /// if a message was broken.
  bool diverged() const;
  /// Back to zero, ordered on exec: for tests, and for callers that skip steps themselves.
  void reset(const Exec& exec);

 private:
  Vector<index_t> m_counts;   ///< [2] of FaultCounts
  Shared<index_t> m_fetched;  ///< the same on the host
  Event m_event;
};

}  // namespace gradcomp
