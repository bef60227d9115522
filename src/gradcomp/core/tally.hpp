#pragma once
// Kernels count the errors that they find, and later launches depend on these counts. A host that shares the memory
// decides at once; on a device the kernels decide, and the host does not wait.
#include <string>

#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// A condition on a count. Kernels call open(); the host calls may_open() to learn whether a launch can have work.
class Gate {
 public:
  Gate() = default;  ///< always open
  Gate(const index_t* count, bool when_zero) : m_count(count), m_when_zero(when_zero) {}

  KOKKOS_FORCEINLINE_FUNCTION bool open() const { return m_count == nullptr || (*m_count == 0) == m_when_zero; }
  bool may_open() const {
    if constexpr (device_is_host) return open();
    return true;
  }

 private:
  const index_t* m_count = nullptr;
  bool m_when_zero = true;
};

/// One count, zero at first. Copies of a Tally share the count.
class Tally {
 public:
  explicit Tally(const std::string& label = "gradcomp::core::tally") : m_count(label, 1) {}

  /// Sets the count to zero, ordered on exec.
  void clear(const Exec& exec) const;
  /// The count as an array of one element, for kernels.
  const Vector<index_t>& count() const { return m_count; }
  /// The count. Waits for exec.
  index_t read(const Exec& exec) const;

  Gate if_zero() const { return {m_count.data(), true}; }
  Gate unless_zero() const { return {m_count.data(), false}; }

 private:
  Vector<index_t> m_count;
};

}  // namespace gradcomp
