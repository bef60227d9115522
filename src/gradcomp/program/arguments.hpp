#pragma once
// Command lines are shared with Kokkos. This separates its options --kokkos-* from our arguments, and hides --help from
// Kokkos.
#include <string>
#include <vector>

namespace gradcomp {

/// Two argument lists, one for Kokkos::ScopeGuard and one for the program's own parser. Each begins with argv[0] and
/// ends with a null pointer.
class Arguments {
 public:
  /// Throws AgreedError if KOKKOS_NUM_THREADS or --kokkos-num-threads is no number of threads.
  Arguments(int argc, char** argv);
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  /// Passes a number of threads on to Kokkos; 0: Kokkos chooses. Throws Error if --kokkos-num-threads gives another
  /// number.
  void set_threads(int threads);

  int kokkos_argc = 0, own_argc = 0;
  char** kokkos_argv() { return m_kokkos.data(); }
  char** own_argv() { return m_own.data(); }

 private:
  std::vector<char*> m_kokkos, m_own;
  std::string m_threads;
};

}  // namespace gradcomp
