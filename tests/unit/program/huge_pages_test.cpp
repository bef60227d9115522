#include "gradcomp/program/huge_pages.hpp"

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace gradcomp {
namespace huge_pages_test {

/// The flags that Linux shows for the mapping that contains `address`, as in "rd wr mr hg"; empty if it shows none.
std::string flags_of(const void* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  const std::string key = "VmFlags:";
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream range(line);
    if (range >> std::hex >> begin >> dash >> end && dash == '-') inside = begin <= place && place < end;
    if (inside && line.starts_with(key)) return line.substr(key.size()) + " ";
  }
  return "";
}

int seen = 0;

TEST(HugePages, AreAskedForInLargeViewsOfAHost) {
  using View = Kokkos::View<char*, Kokkos::HostSpace>;
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) GTEST_SKIP() << "this system has no huge pages";
  const auto before = Kokkos::Tools::Experimental::get_callbacks();
  Kokkos::Tools::Experimental::set_allocate_data_callback(
      [](Kokkos_Profiling_SpaceHandle, const char*, const void*, std::uint64_t) { ++seen; });
  ask_for_huge_pages();
  const View large("large", 8 << 20), small("small", 64 << 10);
  Kokkos::Tools::Experimental::set_callbacks(before);
  const std::string flags = flags_of(large.data() + large.size() / 2);
  if (flags.empty()) GTEST_SKIP() << "this system does not show the flags of memory";
  EXPECT_NE(flags.find(" hg "), std::string::npos) << flags;
  EXPECT_EQ(flags_of(small.data()).find(" hg "), std::string::npos);
  EXPECT_EQ(seen, 2) << "a tool that was there before sees each allocation";
}

}  // namespace huge_pages_test
}  // namespace gradcomp
