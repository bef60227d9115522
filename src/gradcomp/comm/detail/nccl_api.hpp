#pragma once
// NCCL or RCCL, which have the same functions, and the counterparts of DType and ReduceOp there.
#include "gradcomp/core/device_runtime.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/types.hpp"

#ifdef KOKKOS_ENABLE_HIP
#include <rccl/rccl.h>
#else
#include <nccl.h>
#endif

namespace gradcomp::comm {

/// Throws Error "<what>: <text of NCCL>" unless `code` is ncclSuccess.
void check_nccl(ncclResult_t code, const char* what, ncclComm_t comm = nullptr);

/// NCCL's text of a code, with its last error on this rank, in one line.
std::string nccl_text(ncclResult_t code, ncclComm_t comm);

/// Whether `state` says that a communicator is still at work. Versions before NCCL 2.14 never say so.
inline bool is_in_progress([[maybe_unused]] ncclResult_t state) {
#if NCCL_VERSION_CODE >= 21400
  return state == ncclInProgress;
#else
  return false;
#endif
}

/// The stream of `exec`. A host build, which uses the fake NCCL of the tests, has none.
inline auto nccl_stream([[maybe_unused]] const Exec& exec) {
#ifdef GRADCOMP_DEVICE_RUNTIME
  return device::stream_of(exec);
#else
  return cudaStream_t{};
#endif
}

inline ncclDataType_t nccl_type(DType type) {
  switch (type) {
    case DType::f32:
      return ncclFloat32;
    case DType::f16:
      return ncclFloat16;
    case DType::bf16:
      return ncclBfloat16;
    case DType::i8:
      return ncclInt8;
    case DType::i32:
      return ncclInt32;
    case DType::i64:
      return ncclInt64;
    case DType::u8:
      return ncclUint8;
  }
  throw Error("nccl: unknown type of elements");
}

inline ncclRedOp_t nccl_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return ncclSum;
    case ReduceOp::max:
      return ncclMax;
    case ReduceOp::min:
      return ncclMin;
    case ReduceOp::bor:
      break;
  }
  throw Error("nccl: NCCL has no bitwise or; it has sum, max and min");
}

}  // namespace gradcomp::comm
