#pragma once
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// signSGD with majority vote: one bit per element; the estimate is the sign of most ranks (Bernstein et al., ICLR
/// 2019).
Entry sign();

}  // namespace gradcomp::compressors
