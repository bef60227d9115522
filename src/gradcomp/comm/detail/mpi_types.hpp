#pragma once
// DType in MPI's terms.
#include <mpi.h>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/types.hpp"

namespace gradcomp::comm {

/// The 16-bit floats travel as bit patterns, since MPI has no such types.
inline MPI_Datatype mpi_type(DType type) {
  switch (type) {
    case DType::f32:
      return MPI_FLOAT;
    case DType::f16:
    case DType::bf16:
      return MPI_UINT16_T;
    case DType::i8:
      return MPI_INT8_T;
    case DType::i32:
      return MPI_INT32_T;
    case DType::i64:
      return MPI_INT64_T;
    case DType::u8:
      return MPI_UINT8_T;
  }
  throw Error("mpi: unknown type of elements");
}

}  // namespace gradcomp::comm
