#pragma once
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// PowerSGD: one warm-started step of subspace iteration, two allreduces (Vogels et al., NeurIPS 2019, algorithm 1).
Entry powersgd();

}  // namespace gradcomp::compressors
