#pragma once
// The few calls of the CUDA or HIP runtime that Kokkos does not offer, under one name each, and the one place where
// their return codes are read. Host builds see nothing of it: GRADCOMP_DEVICE_RUNTIME is not defined there.
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/types.hpp"

#if defined(KOKKOS_ENABLE_CUDA)
#include <cuda_runtime.h>
#define GRADCOMP_DEVICE_RUNTIME

namespace gradcomp::device {
using Code = cudaError_t;
using Event = cudaEvent_t;
inline constexpr Code success = cudaSuccess, not_ready = cudaErrorNotReady;
inline const char* text_of(Code code) { return cudaGetErrorString(code); }
inline cudaStream_t stream_of(const Exec& exec) { return exec.cuda_stream(); }
inline Code event_create(Event* event) { return cudaEventCreate(event); }
inline void event_destroy(Event event) { cudaEventDestroy(event); }
inline Code event_record(Event event, cudaStream_t stream) { return cudaEventRecord(event, stream); }
inline Code event_wait(Event event) { return cudaEventSynchronize(event); }
inline Code event_query(Event event) { return cudaEventQuery(event); }
inline Code event_elapsed(float* ms, Event from, Event to) { return cudaEventElapsedTime(ms, from, to); }
}  // namespace gradcomp::device

#elif defined(KOKKOS_ENABLE_HIP)
#include <hip/hip_runtime.h>
#define GRADCOMP_DEVICE_RUNTIME

namespace gradcomp::device {
using Code = hipError_t;
using Event = hipEvent_t;
inline constexpr Code success = hipSuccess, not_ready = hipErrorNotReady;
inline const char* text_of(Code code) { return hipGetErrorString(code); }
inline hipStream_t stream_of(const Exec& exec) { return exec.hip_stream(); }
inline Code event_create(Event* event) { return hipEventCreate(event); }
inline void event_destroy(Event event) { (void)hipEventDestroy(event); }
inline Code event_record(Event event, hipStream_t stream) { return hipEventRecord(event, stream); }
inline Code event_wait(Event event) { return hipEventSynchronize(event); }
inline Code event_query(Event event) { return hipEventQuery(event); }
inline Code event_elapsed(float* ms, Event from, Event to) { return hipEventElapsedTime(ms, from, to); }
}  // namespace gradcomp::device
#endif

#ifdef GRADCOMP_DEVICE_RUNTIME
namespace gradcomp {
/// Throws Error "what: <the runtime's text>" unless `code` is success.
inline void check_device(device::Code code, const char* what) {
  if (code != device::success) throw Error(fmt::format("device: cannot {}: {}", what, device::text_of(code)));
}
}  // namespace gradcomp
#endif
