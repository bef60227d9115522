#pragma once
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// Every element as an E5M2 8-bit float, with one power of two per tensor as scale (detail/dense/float8_cast.hpp).
Entry fp8_e5m2();

}  // namespace gradcomp::compressors
