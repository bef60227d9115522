#pragma once
// The host processor's columns of Google Benchmark's context, read from /proc and /sys (Linux; elsewhere mostly empty).
#include "gradcomp/report/json.hpp"

namespace gradcomp::report {

/// Adds num_cpus, mhz_per_cpu, cpu_scaling_enabled, caches and load_avg to `context`.
void add_processor(Json& context);

}  // namespace gradcomp::report
