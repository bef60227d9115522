#pragma once
// Command lines are shared with Kokkos. This separates its options --kokkos-* from our arguments, and hides --help from
// Kokkos.
#include <string>
#include <vector>

namespace gradcomp {

/// The arguments of Kokkos::ScopeGuard and those of the program's own parser, each with argv[0] first and a null
/// pointer behind the last one.
class Arguments {
 public:
  Arguments(int argc, char** argv);
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  /// Hands a number of threads on to Kokkos; 0: leaves it the choice. Throws Error when --kokkos-num-threads asks for
  /// another number.
  void set_threads(int threads);

  int kokkos_argc = 0, own_argc = 0;
  char** kokkos_argv() { return m_kokkos.data(); }
  char** own_argv() { return m_own.data(); }

 private:
  std::vector<char*> m_kokkos, m_own;
  std::string m_threads;
};

}  // namespace gradcomp
