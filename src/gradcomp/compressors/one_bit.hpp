#pragma once
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// 1-bit SGD: one bit per element, and for each column of a matrix the means of both signs (Seide et al., Interspeech
/// 2014, section 3.2).
Entry one_bit();

}  // namespace gradcomp::compressors
