#include "gradcomp/core/thread_device.hpp"

#include "gradcomp/core/device_runtime.hpp"

namespace gradcomp {

void use_device_of_process() {
#ifdef GRADCOMP_DEVICE_RUNTIME
  // If this fails, the thread's first call to the runtime fails too, in a place that can report it.
  (void)device::use_device(device::device_of(Exec()));
#endif
}

}  // namespace gradcomp
