#pragma once
// Memory and caches of the device that cases run on.
#include "gradcomp/core/types.hpp"

namespace gradcomp::bench {

/// Bytes that cases may take: nine tenths of the device, or of what is free on the machine (within the limit of the
/// process' control group) where the device is the host.
double free_bytes(const Exec& exec);

/// Bytes of the last-level cache; 0 where the system does not say.
index_t last_level_cache(const Exec& exec);

}  // namespace gradcomp::bench
