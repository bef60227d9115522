#include "gradcomp/program/huge_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstdint>
#include <string_view>

namespace gradcomp {
namespace {

constexpr std::uint64_t smallest = 4 << 20;  // bytes; wherever so many begin, they contain a huge page of 2 MiB

Kokkos_Profiling_allocateDataFunction tool = nullptr;

/// Kokkos calls this before anything is written to a new View, so that its first write finds huge pages. That the
/// system refuses is no error.
void on_allocation(const Kokkos_Profiling_SpaceHandle space, const char* label, const void* data,
                   const std::uint64_t bytes) {
  if (tool != nullptr) tool(space, label, data, bytes);
#ifdef MADV_HUGEPAGE
  if (bytes < smallest || std::string_view(space.name) != Kokkos::HostSpace::name()) return;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto address = std::bit_cast<std::uint64_t>(data);
  const std::uint64_t first = (address + page - 1) / page * page, end = (address + bytes) / page * page;
  ::madvise(std::bit_cast<void*>(first), end - first, MADV_HUGEPAGE);
#endif
}

}  // namespace

void ask_for_huge_pages() {
  tool = Kokkos::Tools::Experimental::get_callbacks().allocate_data;
  Kokkos::Tools::Experimental::set_allocate_data_callback(on_allocation);
}

}  // namespace gradcomp
