#pragma once
// Conversion of 32-bit values to fewer bits, for one hop of a reducer.
#include "gradcomp/comm/call.hpp"
#include "gradcomp/core/memories.hpp"
#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// The format of a message's values in one hop. own: they are not changed. int8: blocks of 256 values, each with a
/// power of two as its scale, so that narrowing the widened values again gives the same bytes.
enum class Width : std::uint8_t { own, fp16, bf16, int8 };

/// Number of bytes of so many values; Width::own takes 4 for each.
index_t narrow_bytes(Width width, index_t values);

/// to = from, narrowed. A value that is not finite is still not finite after widening (with int8: its whole block).
/// `keep`: `from` becomes what widening gives. `width` is not own.
void narrow(const Exec& exec, const Span<float>& from, Width width, bool keep, std::byte* to);

/// into = the values of `from`, widened. If `combines`, into = op(into, these values).
void widen(const Exec& exec, const std::byte* from, Width width, bool combines, ReduceOp op, const Span<float>& into);

}  // namespace gradcomp
