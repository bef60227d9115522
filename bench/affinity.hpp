#pragma once
#include "gradcomp/report/json.hpp"

namespace gradcomp::bench {

/// Where threads may run: {cpus: the logical processors that this process may use (empty if unknown), omp_proc_bind,
/// omp_places: the environment variables, null if not set}.
report::Json affinity();

}  // namespace gradcomp::bench
