#include "gradcomp/kernels/lanes/combine.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/quantise/casts.hpp"

namespace gradcomp::kernels {
/// f32 in the form of the formats in casts.hpp.
struct Single {
  KOKKOS_INLINE_FUNCTION static float encode(float value) { return value; }
  KOKKOS_INLINE_FUNCTION static float decode(float value) { return value; }
};

template <class T>
KOKKOS_INLINE_FUNCTION T combine_whole(ReduceOp op, T a, T b) {
  if (op == ReduceOp::sum) return static_cast<T>(a + b);
  if (op == ReduceOp::bor) return static_cast<T>(a | b);
  if (op == ReduceOp::max) return a > b ? a : b;
  return a < b ? a : b;
}

template <class Format, class Code>
void combine_floats(const Exec& exec, ReduceOp op, const void* first, const void* second, index_t count, void* into) {
  const auto *a = static_cast<const Code*>(first), *b = static_cast<const Code*>(second);
  auto* out = static_cast<Code*>(into);
  if (op == ReduceOp::sum) {  // a loop of its own, so that it vectorises
    Kokkos::parallel_for(
        "gradcomp::kernels::combine_sums", IndexRange(exec, 0, count),
        KOKKOS_LAMBDA(const index_t i) { out[i] = Format::encode(Format::decode(a[i]) + Format::decode(b[i])); });
  } else {
    Kokkos::parallel_for(
        "gradcomp::kernels::combine_floats", IndexRange(exec, 0, count), KOKKOS_LAMBDA(const index_t i) {
          out[i] = Format::encode(combine(op, Format::decode(a[i]), Format::decode(b[i])));
        });
  }
}

template <class T>
void combine_wholes(const Exec& exec, ReduceOp op, const void* first, const void* second, index_t count, void* into) {
  const auto *a = static_cast<const T*>(first), *b = static_cast<const T*>(second);
  auto* out = static_cast<T*>(into);
  Kokkos::parallel_for(
      "gradcomp::kernels::combine_wholes", IndexRange(exec, 0, count),
      KOKKOS_LAMBDA(const index_t i) { out[i] = combine_whole(op, a[i], b[i]); });
}

void combine(const Exec& exec, DType type, ReduceOp op, const void* first, const void* second, index_t count,
             void* into) {
  const bool floats = type == DType::f32 || type == DType::f16 || type == DType::bf16;
  require(!floats || op != ReduceOp::bor, "combine: floats have no bitwise or; allowed: sum, max, min");
  switch (type) {
    case DType::f32:
      return combine_floats<Single, float>(exec, op, first, second, count, into);
    case DType::f16:
      return combine_floats<Half, std::uint16_t>(exec, op, first, second, count, into);
    case DType::bf16:
      return combine_floats<Bfloat, std::uint16_t>(exec, op, first, second, count, into);
    case DType::i8:
      return combine_wholes<std::int8_t>(exec, op, first, second, count, into);
    case DType::u8:
      return combine_wholes<std::uint8_t>(exec, op, first, second, count, into);
    case DType::i32:
      return combine_wholes<std::int32_t>(exec, op, first, second, count, into);
    case DType::i64:
      return combine_wholes<std::int64_t>(exec, op, first, second, count, into);
  }
}

}  // namespace gradcomp::kernels
