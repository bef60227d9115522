#pragma once
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// QSGD: unbiased stochastic quantisation to 2s + 1 levels per group norm, packed (Alistarh et al., NeurIPS 2017).
Entry qsgd();

}  // namespace gradcomp::compressors
