#pragma once
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// signSGD with majority vote: one bit per element, and the estimate is what most ranks say (Bernstein et al., 2018).
Entry sign();

}  // namespace gradcomp::compressors
