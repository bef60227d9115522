#pragma once
// What the kernel counts of the traffic of a network interface: the bytes that were really sent, with headers of all
// layers, acknowledgements and what a library sends besides. Traffic that bypasses the kernel (InfiniBand, shared
// memory) is not in it.
#include <string>

#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// The value of GRADCOMP_INTERFACE: the interface over which the ranks communicate. Empty: nothing is counted.
std::string counted_interface();

/// Bytes that this interface of the process's network namespace has sent so far. Throws Error if there is none of this
/// name.
index_t bytes_sent_over(const std::string& interface);

}  // namespace gradcomp
