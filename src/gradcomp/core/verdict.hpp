#pragma once
// Whether a step must be skipped, and whether one of its messages was broken. The flags are kept where the data is, so
// that the host can continue without waiting for a device. Kernels and hosts raise them; they stay raised until the
// next step.
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/event.hpp"
#include "gradcomp/core/tally.hpp"
#include "gradcomp/core/types.hpp"

namespace gradcomp {

class Verdict {
 public:
  Verdict();

  /// A new step: no flag is raised. On a device this is ordered on exec.
  void clear(const Exec& exec);

  /// Some rank saw a value that is not finite: all ranks skip the step. Ordered on exec.
  void skip(const Exec& exec) { skip_if(exec, Gate()); }
  /// skip() where the gate is open.
  void skip_if(const Exec& exec, const Gate& gate) { raise(exec, gate, 0); }

  /// A message was broken if the gate is open. On hosts throws Error with the text at once; on a device skipped()
  /// throws later, and can only say that a message was broken.
  template <class... Arguments>
  void refuse_if(const Exec& exec, const Gate& gate, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    if constexpr (device_is_host) {
      require(!gate.open(), text, std::forward<Arguments>(arguments)...);
    } else {
      raise(exec, gate, 1);
    }
  }

  /// Takes over the flag of broken messages of another verdict. Does nothing on hosts, which have thrown already.
  void take_faults(const Exec& exec, const Verdict& other);

  /// [2], for kernels: flags[0] != 0: skip; flags[1] != 0: a message was broken.
  Span<std::uint32_t> flags() const { return m_flags; }

  /// Begins to copy the flags to the host, after exec's earlier work.
  void fetch(const Exec& exec);
  /// Whether the step must be skipped, as of the last fetch(). On hosts it never waits. Throws Error when a message was
  /// broken.
  bool skipped() const;

 private:
  void raise(const Exec& exec, const Gate& gate, int flag);

  Vector<std::uint32_t> m_flags;
#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
  Kokkos::View<std::uint32_t*, Kokkos::SharedHostPinnedSpace> m_host;
#else
  Kokkos::View<std::uint32_t*, Kokkos::HostSpace> m_host;
#endif
  Event m_fetched;
};

}  // namespace gradcomp
