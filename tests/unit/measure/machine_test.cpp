#include "gradcomp/measure/machine.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "gradcomp/core/types.hpp"

namespace gradcomp {
namespace machine_test {

TEST(Machine, SaysWhatShapesAMeasurement) {
  const Machine machine = machine_info();
  EXPECT_GE(machine.cores, 1);
  EXPECT_GE(machine.cores_online, machine.cores);
  EXPECT_EQ(machine.threads, HostExec().concurrency());
  EXPECT_EQ(machine.kokkos_backend, Exec::name());
  EXPECT_NE(machine.kokkos_configuration.find("Kokkos"), std::string::npos);
  int major = 0, minor = 0, patch = 0;
  ASSERT_EQ(std::sscanf(machine.kokkos_version.c_str(), "%d.%d.%d", &major, &minor, &patch), 3);
  EXPECT_EQ(10000 * major + 100 * minor + patch, KOKKOS_VERSION);
  EXPECT_TRUE(minor < 100 && patch < 100) << machine.kokkos_version;
#if defined(__x86_64__)
  EXPECT_FALSE(machine.cpu_model.empty());
#endif
}

TEST(Machine, CountsTheProcessorsThatItMayUse) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(machine_info().cores, CPU_COUNT(&all));
  CPU_ZERO(&one);
  for (std::size_t cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(machine_info().cores, 1) << "as a launcher binds a rank";
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(machine_info().cores_online, sysconf(_SC_NPROCESSORS_ONLN));
}

TEST(Machine, NamesItsTracer) {
  if (!tracer().empty()) GTEST_SKIP() << "the tests themselves are traced";
  std::string own;
  std::getline(std::ifstream("/proc/self/comm"), own);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    _exit(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 && tracer() == own ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(Machine, NamesTheHostOnlyWhenAsked) {
  std::array<char, 256> host{};
  ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
  EXPECT_EQ(machine_info().host_name, "");
  EXPECT_EQ(machine_info(true).host_name, host.data());
  const std::string name = host.data();
  EXPECT_TRUE(name.empty() || machine_info().kokkos_configuration.find(name) == std::string::npos);
}

}  // namespace machine_test
}  // namespace gradcomp
