#include "gradcomp/measure/memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace gradcomp {
namespace {

constexpr double usable_share = 0.9;

[[maybe_unused]] double host_bytes() {
  double bytes = std::numeric_limits<double>::max();
  std::ifstream limit("/sys/fs/cgroup/memory.max");  // of control groups, version 2; "max" means no limit
  double value = 0;
  if (limit >> value) bytes = value;
  std::ifstream file("/proc/meminfo");
  for (std::string key, rest; file >> key >> value && std::getline(file, rest);) {
    if (key == "MemAvailable:") bytes = std::min(bytes, 1024 * value);
  }
  return bytes;
}

}  // namespace

double free_bytes([[maybe_unused]] const Exec& exec) {
#if defined(KOKKOS_ENABLE_CUDA)
  return usable_share * static_cast<double>(exec.cuda_device_prop().totalGlobalMem);
#elif defined(KOKKOS_ENABLE_HIP)
  return usable_share * static_cast<double>(exec.hip_device_prop().totalGlobalMem);
#else
  return usable_share * host_bytes();
#endif
}

}  // namespace gradcomp
