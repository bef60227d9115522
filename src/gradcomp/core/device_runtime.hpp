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
using Stream = cudaStream_t;
inline constexpr Code success = cudaSuccess, not_ready = cudaErrorNotReady;
inline const char* text_of(Code code) { return cudaGetErrorString(code); }
inline Stream stream_of(const Exec& exec) { return exec.cuda_stream(); }
/// The new stream and the legacy stream do not wait for each other.
inline Code stream_create(Stream* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking); }
inline void stream_destroy(Stream stream) { (void)cudaStreamDestroy(stream); }
inline Code stream_wait(Stream stream, Event event) { return cudaStreamWaitEvent(stream, event, 0); }
inline int device_of(const Exec& exec) { return exec.cuda_device(); }
inline Code use_device(int device) { return cudaSetDevice(device); }
inline Code bus_id(char* text, int length, int device) { return cudaDeviceGetPCIBusId(text, length, device); }
inline Code event_create(Event* event) { return cudaEventCreate(event); }
inline void event_destroy(Event event) { cudaEventDestroy(event); }
inline Code event_record(Event event, Stream stream) { return cudaEventRecord(event, stream); }
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
using Stream = hipStream_t;
inline constexpr Code success = hipSuccess, not_ready = hipErrorNotReady;
inline const char* text_of(Code code) { return hipGetErrorString(code); }
inline Stream stream_of(const Exec& exec) { return exec.hip_stream(); }
/// The new stream and the legacy stream do not wait for each other.
inline Code stream_create(Stream* stream) { return hipStreamCreateWithFlags(stream, hipStreamNonBlocking); }
inline void stream_destroy(Stream stream) { (void)hipStreamDestroy(stream); }
inline Code stream_wait(Stream stream, Event event) { return hipStreamWaitEvent(stream, event, 0); }
inline int device_of(const Exec& exec) { return exec.hip_device(); }
inline Code use_device(int device) { return hipSetDevice(device); }
inline Code bus_id(char* text, int length, int device) { return hipDeviceGetPCIBusId(text, length, device); }
inline Code event_create(Event* event) { return hipEventCreate(event); }
inline void event_destroy(Event event) { (void)hipEventDestroy(event); }
inline Code event_record(Event event, Stream stream) { return hipEventRecord(event, stream); }
inline Code event_wait(Event event) { return hipEventSynchronize(event); }
inline Code event_query(Event event) { return hipEventQuery(event); }
inline Code event_elapsed(float* ms, Event from, Event to) { return hipEventElapsedTime(ms, from, to); }
}  // namespace gradcomp::device
#endif

#ifdef GRADCOMP_DEVICE_RUNTIME
namespace gradcomp {
/// Throws Error "device: cannot <what>: <text of the runtime>" unless `code` is success.
inline void check_device(device::Code code, const char* what) {
  if (code != device::success) throw Error(fmt::format("device: cannot {}: {}", what, device::text_of(code)));
}
}  // namespace gradcomp
#endif
