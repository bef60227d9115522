#include "gradcomp/program/arguments.hpp"

#include <string_view>

#include "gradcomp/core/error.hpp"

namespace gradcomp {

Arguments::Arguments(int argc, char** argv) {
  for (int i = 0; i < argc; ++i) {
    const bool is_kokkos = std::string_view(argv[i]).starts_with("--kokkos-");
    if (i == 0 || is_kokkos) m_kokkos.push_back(argv[i]);
    if (i == 0 || !is_kokkos) m_own.push_back(argv[i]);
  }
  kokkos_argc = static_cast<int>(m_kokkos.size());
  own_argc = static_cast<int>(m_own.size());
  m_kokkos.push_back(nullptr);
  m_own.push_back(nullptr);
}

void Arguments::set_threads(int threads) {
  if (threads == 0) return;
  m_threads = fmt::format("--kokkos-num-threads={}", threads);
  for (int i = 0; i < kokkos_argc; ++i) {
    const std::string_view given = m_kokkos[static_cast<std::size_t>(i)];
    require(!given.starts_with("--kokkos-num-threads") || given == m_threads,
            "--threads {} contradicts {}; give one of them", threads, given);
  }
  m_kokkos.insert(m_kokkos.end() - 1, m_threads.data());
  ++kokkos_argc;
}

}  // namespace gradcomp
