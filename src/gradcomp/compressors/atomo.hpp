#pragma once
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// Spectral ATOMO: random singular triples, unbiased (Wang et al., NeurIPS 2018, algorithm 1).
Entry atomo();

}  // namespace gradcomp::compressors
