#pragma once
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// Signum: sign() of a running mean of the gradients (Bernstein et al., 2018).
Entry signum();

}  // namespace gradcomp::compressors
