#pragma once
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// QSGD: unbiased stochastic rounding to 2s + 1 levels of a group's norm, packed (Alistarh et al., NeurIPS 2017,
/// section 3.1).
Entry qsgd();

}  // namespace gradcomp::compressors
