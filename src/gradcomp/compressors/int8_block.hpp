#pragma once
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// One signed byte per element and the largest magnitude of every block as its scale (Dettmers, ICLR 2016).
Entry int8_block();

}  // namespace gradcomp::compressors
