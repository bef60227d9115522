#pragma once
// A GPU's runtime has a current device in each thread. In a new thread this is device 0, although Kokkos may have
// chosen another one for the process.

namespace gradcomp {

/// Makes the device of this process the calling thread's. Call it first in every thread that works with device memory.
/// Kokkos must have been initialized. On a host it does nothing.
void use_device_of_process();

}  // namespace gradcomp
