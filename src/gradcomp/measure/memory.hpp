#pragma once
// The memory of the device on which programs run.
#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// The bytes that a program may take: nine tenths of the device's memory; on hosts, nine tenths of the free memory,
/// within the limit of the control group.
double free_bytes(const Exec& exec);

}  // namespace gradcomp
