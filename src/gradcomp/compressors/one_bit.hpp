#pragma once
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// 1-bit SGD: one bit per element, and per column of a matrix the means of both signs (Seide et al., Interspeech 2014).
Entry one_bit();

}  // namespace gradcomp::compressors
