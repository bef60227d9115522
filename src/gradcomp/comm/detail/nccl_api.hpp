#pragma once
// NCCL or RCCL, which have the same functions; DType and ReduceOp in their terms.
#include "gradcomp/core/device_runtime.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/types.hpp"

#ifdef KOKKOS_ENABLE_HIP
#include <rccl/rccl.h>
#else
#include <nccl.h>
#endif

namespace gradcomp::comm {

/// Throws Error "what: <NCCL's text>" unless `code` is ncclSuccess. The one place where return codes are read.
void check_nccl(ncclResult_t code, const char* what, ncclComm_t comm = nullptr);

/// What NCCL says of a code, with its last error on this rank, in one line.
std::string nccl_text(ncclResult_t code, ncclComm_t comm);

/// Whether a communicator is still at work; a library older than NCCL 2.14 does not say.
inline bool is_in_progress([[maybe_unused]] ncclResult_t state) {
#if NCCL_VERSION_CODE >= 21400
  return state == ncclInProgress;
#else
  return false;
#endif
}

/// The stream of `exec`. A host build, whose NCCL is that of the tests, has none.
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
  throw Error("a data type that NCCL does not carry");
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
  throw Error("a reduction that NCCL does not have");
}

}  // namespace gradcomp::comm
