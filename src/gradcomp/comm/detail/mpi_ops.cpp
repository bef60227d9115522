#include "gradcomp/comm/detail/mpi_ops.hpp"

#include <cstdint>

#include "gradcomp/comm/mpi_session.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/lanes/combine.hpp"
#include "gradcomp/kernels/quantise/casts.hpp"

namespace gradcomp::comm {
namespace {

/// What MPI calls: results = op(results, terms). A plain loop without branches, which vectorises: it runs on the
/// communication thread, which must not launch kernels.
template <class Format, ReduceOp op>
void combine_halves(void* terms, void* results, int* count, MPI_Datatype*) {
  const auto* term = static_cast<const std::uint16_t*>(terms);
  auto* result = static_cast<std::uint16_t*>(results);
  for (int i = 0; i < *count; ++i) {
    result[i] = Format::encode(kernels::combine(op, Format::decode(result[i]), Format::decode(term[i])));
  }
}

template <class Format>
MPI_User_function* function_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return combine_halves<Format, ReduceOp::sum>;
    case ReduceOp::max:
      return combine_halves<Format, ReduceOp::max>;
    case ReduceOp::min:
      return combine_halves<Format, ReduceOp::min>;
    case ReduceOp::bor:
      break;
  }
  throw Error("mpi: floats have no bitwise or; allowed: sum, max, min");
}

MPI_Op known_to_mpi(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return MPI_SUM;
    case ReduceOp::max:
      return MPI_MAX;
    case ReduceOp::min:
      return MPI_MIN;
    case ReduceOp::bor:
      return MPI_BOR;
  }
  throw Error("mpi: unknown reduction");
}

}  // namespace

MpiOps::~MpiOps() {
  for (MPI_Op& op : m_own) {
    if (op != MPI_OP_NULL) MPI_Op_free(&op);
  }
}

MPI_Op MpiOps::of(DType type, ReduceOp op) {
  if (!is_half(type)) return known_to_mpi(op);
  auto* const function = type == DType::f16 ? function_of<kernels::Half>(op) : function_of<kernels::Bfloat>(op);
  MPI_Op& own = m_own.at(static_cast<std::size_t>(op) + (type == DType::f16 ? 0 : 3));
  constexpr int commutes = 1;
  if (own == MPI_OP_NULL) check_mpi(MPI_Op_create(function, commutes, &own), "MPI_Op_create");
  return own;
}

}  // namespace gradcomp::comm
