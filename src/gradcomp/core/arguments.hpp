#pragma once
// Kokkos and our parser read the same command line. This file separates the options --kokkos-* from our arguments, and
// hides --help from Kokkos.
#include <string_view>
#include <vector>

namespace gradcomp {

/// The arguments of Kokkos::ScopeGuard and those of the program's own parser, each with argv[0] first.
class Arguments {
 public:
  Arguments(int argc, char** argv) {
    for (int i = 0; i < argc; ++i) {
      const bool is_kokkos = std::string_view(argv[i]).starts_with("--kokkos-");
      if (i == 0 || is_kokkos) m_kokkos.push_back(argv[i]);
      if (i == 0 || !is_kokkos) m_own.push_back(argv[i]);
    }
    kokkos_argc = static_cast<int>(m_kokkos.size());
    own_argc = static_cast<int>(m_own.size());
  }

  int kokkos_argc = 0, own_argc = 0;
  char** kokkos_argv() { return m_kokkos.data(); }
  char** own_argv() { return m_own.data(); }

 private:
  std::vector<char*> m_kokkos, m_own;
};

}  // namespace gradcomp
