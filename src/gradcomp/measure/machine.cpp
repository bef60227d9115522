#include "gradcomp/measure/machine.hpp"

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/types.hpp"
#include "gradcomp/kernels/linear_algebra/blas.hpp"

namespace gradcomp {
namespace {

/// The first "model name" in /proc/cpuinfo (x86), or the fields that Linux gives instead on ARM.
std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  std::string arm;
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const auto begin = line.find_first_not_of(' ', colon + 1);
    const std::string value = begin == std::string::npos ? "" : line.substr(begin);
    if (key == "model name") return value;
    if (arm.empty() && key == "CPU implementer") arm = "ARM implementer " + value;
    if (!arm.empty() && key == "CPU part") return arm + " part " + value;
  }
  return arm;
}

/// The number of processors that this process may use: a launcher often binds each rank to a few.
int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

/// The core type that OpenBLAS reports. Its function is looked up at run time, since another BLAS may be loaded.
std::string openblas_core() {
  using CoreName = char* (*)();
  // POSIX promises that a symbol's address from dlsym converts to a function pointer.
  const auto core_name = reinterpret_cast<CoreName>(dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  const char* name = core_name != nullptr ? core_name() : nullptr;
  return name != nullptr ? name : "";
}

/// The word in brackets in "always [madvise] never".
std::string huge_pages() {
  std::string line;
  std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), line);
  const auto begin = line.find('['), end = line.find(']');
  return begin < end && end != std::string::npos ? line.substr(begin + 1, end - begin - 1) : "";
}

std::string device_name([[maybe_unused]] const std::string& cpu) {
#if defined(KOKKOS_ENABLE_CUDA)
  return Exec().cuda_device_prop().name;
#elif defined(KOKKOS_ENABLE_HIP)
  return Exec().hip_device_prop().name;
#else
  return cpu;
#endif
}

}  // namespace

// An example is PRoot, which runs programs where mount namespaces are not allowed: every system call then costs two
// switches to PRoot.
std::string tracer() {
  std::ifstream status("/proc/self/status");
  const std::string key = "TracerPid:";
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const int process = std::stoi(line.substr(key.size()));
    if (process == 0) return "";
    std::string name;
    std::getline(std::ifstream(fmt::format("/proc/{}/comm", process)), name);
    return name.empty() ? "unknown" : name;  // another user's process, or one of an outer namespace
  }
  return "";
}

Machine machine_info(bool with_host_name) {
  Machine machine;
  machine.cpu_model = cpu_model();
  machine.cores = usable_cores();
  machine.cores_online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  machine.threads = HostExec().concurrency();
  machine.kokkos_version =
      fmt::format("{}.{}.{}", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100);
  machine.kokkos_backend = Exec::name();
  machine.device = device_name(machine.cpu_model);
  std::ostringstream text;
  Kokkos::print_configuration(text);
  machine.kokkos_configuration = text.str();
  machine.blas = kernels::blas_description();
  machine.openblas_core = openblas_core();
  machine.tracer = tracer();
  machine.huge_pages = huge_pages();
  if (with_host_name) {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) == 0) machine.host_name = name.data();
  }
  return machine;
}

}  // namespace gradcomp
