#pragma once
// no_exchange: no communication. Every rank updates with its own gradient. No exchange can be faster than this bound.
// It is no training method, because the replicas drift apart.
//
// One summable round of zero elements; finish() copies a to the mean. Nothing travels, so no rank learns of another's
// gradient that is not finite, and the run goes on. Bytes: 0.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry no_exchange();
}
