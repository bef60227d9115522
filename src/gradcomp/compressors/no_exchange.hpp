#pragma once
// no_exchange: no communication. Every rank updates with its own gradient: the bound that no exchange can beat in time,
// and no training method (the replicas drift apart).
//
// One summable round of zero elements; finish() copies a to out. A gradient that is not finite skips the step on its
// own rank alone, since nothing travels. Bytes: 0.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry no_exchange();
}
