#include "gradcomp/core/verdict.hpp"

namespace gradcomp {
namespace {

/// to[i] = from[i], on hosts without a launch.
template <class From, class To>
void move_flags(const Exec& exec, const From& from, const To& to) {
  if constexpr (device_is_host) {
    for (std::size_t i = 0; i < to.size(); ++i) to(i) = from(i);
  } else {
    Kokkos::deep_copy(exec, to, from);
  }
}

void raise_flag(const Exec& exec, const Gate& gate, int flag, const Vector<std::uint32_t>& flags) {
  if constexpr (device_is_host) {
    if (gate.open()) flags(flag) = 1;
  } else {
    Kokkos::parallel_for(
        "gradcomp::core::raise_flag", IndexRange(exec, 0, 1), KOKKOS_LAMBDA(const int) {
          if (gate.open()) flags(flag) = 1;
        });
  }
}

}  // namespace

Verdict::Verdict() : m_flags("gradcomp::core::verdict", 2), m_host("gradcomp::core::verdict_on_host", 2) {}

void Verdict::clear(const Exec& exec) {
  if constexpr (device_is_host) {
    m_flags(0) = m_flags(1) = 0;
  } else {
    Kokkos::deep_copy(exec, m_flags, 0u);
  }
}

void Verdict::raise(const Exec& exec, const Gate& gate, int flag) { raise_flag(exec, gate, flag, m_flags); }

void Verdict::take_faults(const Exec& exec, const Verdict& other) {
  if (device_is_host) return;
  const auto flags = m_flags, others = other.m_flags;
  Kokkos::parallel_for(
      "gradcomp::core::take_faults", IndexRange(exec, 0, 1), KOKKOS_LAMBDA(const int) {
        if (others(1) != 0) flags(1) = 1;
      });
}

void Verdict::fetch(const Exec& exec) {
  move_flags(exec, m_flags, m_host);
  m_fetched.record(exec);
}

bool Verdict::skipped() const {
  m_fetched.wait();
  require(m_host(1) == 0,
          "a message of the step is broken: it holds a header, a scale, a code or padding that no sender writes");
  return m_host(0) != 0;
}

}  // namespace gradcomp
