#include "gradcomp/program/arguments.hpp"

#include <cstdlib>
#include <string_view>

#include "gradcomp/comm/mpi_session.hpp"
#include "gradcomp/core/number.hpp"

namespace gradcomp {
namespace {

constexpr int most_threads = 4096;
constexpr std::string_view threads_option = "--kokkos-num-threads=";

/// Kokkos ends a process with a backtrace if it cannot read the number. All ranks have the same.
void check_threads(std::string_view name, std::string_view text) {
  const auto value = to_number<int>(text);
  if (!value || *value < 1 || *value > most_threads) {
    throw AgreedError(fmt::format("{}{} is not allowed; allowed: 1 to {}", name, text, most_threads));
  }
}

}  // namespace

Arguments::Arguments(int argc, char** argv) {
  const char* const threads = std::getenv("KOKKOS_NUM_THREADS");
  if (threads != nullptr) check_threads("KOKKOS_NUM_THREADS=", threads);
  for (int i = 0; i < argc; ++i) {
    const std::string_view given = argv[i];
    const bool is_kokkos = given.starts_with("--kokkos-");
    if (given.starts_with(threads_option)) check_threads(threads_option, given.substr(threads_option.size()));
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
