#include "affinity.hpp"

#ifdef __linux__
#include <sched.h>
#endif

#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

namespace gradcomp::bench {
namespace {

report::Json variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? report::Json(nullptr) : report::Json(value);
}

}  // namespace

report::Json affinity() {
  std::set<int> cpus;
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) cpus.insert(cpu);
    }
  }
#endif
#ifdef _OPENMP  // with OMP_PROC_BIND, this thread is bound to one of the places already
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> members(static_cast<std::size_t>(std::max(0, omp_get_place_num_procs(place))));
    if (!members.empty()) omp_get_place_proc_ids(place, members.data());
    cpus.insert(members.begin(), members.end());
  }
#endif
  return {{"cpus", cpus}, {"omp_proc_bind", variable("OMP_PROC_BIND")}, {"omp_places", variable("OMP_PLACES")}};
}

}  // namespace gradcomp::bench
