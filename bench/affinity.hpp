#pragma once
#include "gradcomp/report/json.hpp"

namespace gradcomp::bench {

/// Where threads may run: {cpus: the logical processors allowed to this process (empty where the system does not say),
/// omp_proc_bind, omp_places: the variables of the environment, null where unset}.
report::Json affinity();

}  // namespace gradcomp::bench
