#pragma once
// The memory and the caches of the device on which cases run.
#include "gradcomp/core/types.hpp"

namespace gradcomp::bench {

/// The bytes that cases may take: nine tenths of the device's memory; on hosts, nine tenths of the free memory, within
/// the limit of the control group.
double free_bytes(const Exec& exec);

/// Bytes of the last-level cache; 0 if unknown.
index_t last_level_cache(const Exec& exec);

}  // namespace gradcomp::bench
