#pragma once
// Whether a step must be skipped, and whether one of its messages was broken. The two flags are kept in device memory,
// so that the host can continue without waiting for a device. Kernels and the host raise them; they stay raised until
// the next step.
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/event.hpp"
#include "gradcomp/core/tally.hpp"
#include "gradcomp/core/types.hpp"

namespace gradcomp {

class Verdict {
 public:
  Verdict();

  /// Begins a new step: lowers all flags. On a device this is ordered on exec.
  void clear(const Exec& exec);

  /// Some rank saw a value that is not finite: all ranks skip the step. Ordered on exec.
  void skip(const Exec& exec) { skip_if(exec, Gate()); }
  /// skip(), if the gate is open.
  void skip_if(const Exec& exec, const Gate& gate) { raise(exec, gate, 0); }

  /// Reports a broken message, if the gate is open. Hosts throw Error with `text` at once. On a device, skipped()
  /// throws later, and can only say that some message was broken.
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

  /// Two flags, for kernels: flags[0] != 0 means skip, and flags[1] != 0 means that a message was broken.
  Span<std::uint32_t> flags() const { return m_flags; }

  /// Begins to copy the flags to the host, after exec's earlier work.
  void fetch(const Exec& exec);
  /// Whether the step must be skipped, as of the last fetch(), for which it waits on a device. Throws Error if a
  /// message was broken.
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
