#pragma once
// The caches of the device on which cases run.
#include "gradcomp/core/types.hpp"

namespace gradcomp::bench {

/// Bytes of the last-level cache; 0 if unknown.
index_t last_level_cache(const Exec& exec);

}  // namespace gradcomp::bench
