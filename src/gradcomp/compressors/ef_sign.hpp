#pragma once
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// EF-signSGD: the sign of every element and the mean magnitude of each tensor (Karimireddy et al., ICML 2019,
/// algorithm 2).
Entry ef_sign();

}  // namespace gradcomp::compressors
