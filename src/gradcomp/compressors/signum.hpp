#pragma once
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// Signum: the method sign on a running mean of the gradients (Bernstein et al., ICML 2018, algorithm 2).
Entry signum();

}  // namespace gradcomp::compressors
