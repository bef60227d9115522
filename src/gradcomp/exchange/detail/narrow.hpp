#pragma once
// 32-bit values in fewer bits, for one hop of a reducer.
#include "gradcomp/comm/call.hpp"
#include "gradcomp/core/memories.hpp"
#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// How the values of a message travel in one hop. own: as they are. int8: blocks of 256 values, each with a power of
/// two as its scale, so that what was narrowed once is narrowed again to the same bytes.
enum class Width : std::uint8_t { own, fp16, bf16, int8 };

/// Bytes of so many values; of Width::own 4 each.
index_t narrow_bytes(Width width, index_t values);

/// to = from, narrowed; a value that is not finite (of int8: its block, too) is none when it is widened. `keep`: from
/// becomes what widening gives. `width` is not own.
void narrow(const Exec& exec, const Span<float>& from, Width width, bool keep, std::byte* to);

/// into = from, widened, or, where it `combines`, what `op` makes of both.
void widen(const Exec& exec, const std::byte* from, Width width, bool combines, ReduceOp op, const Span<float>& into);

}  // namespace gradcomp
