#pragma once
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// signSGD with majority vote: one bit per element; the estimate is the sign of most ranks (Bernstein et al., ICLR
/// 2019, algorithm 1 with beta = 0).
Entry sign();

}  // namespace gradcomp::compressors
