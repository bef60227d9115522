#include "gradcomp/kernels/lanes/combine.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"
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

/// The two elements that are combined.
template <class Code>
struct Two {
  Code a, b;
};

template <class Format, class Code>
void combine_floats(const Exec& exec, ReduceOp op, const void* first, const void* second, index_t count, void* into) {
  const auto *a = static_cast<const Code*>(first), *b = static_cast<const Code*>(second);
  auto* out = static_cast<Code*>(into);
  const auto load = KOKKOS_LAMBDA(index_t i) { return Two<Code>{a[i], b[i]}; };
  if (op == ReduceOp::sum) {  // a loop of its own, so that it vectorises
    for_elements(
        "gradcomp::kernels::combine_sums", exec, count, load, KOKKOS_LAMBDA(index_t i, const Two<Code>& x) {
          out[i] = Format::encode(Format::decode(x.a) + Format::decode(x.b));
        });
  } else {
    for_elements(
        "gradcomp::kernels::combine_floats", exec, count, load, KOKKOS_LAMBDA(index_t i, const Two<Code>& x) {
          out[i] = Format::encode(combine(op, Format::decode(x.a), Format::decode(x.b)));
        });
  }
}

template <class T>
void combine_wholes(const Exec& exec, ReduceOp op, const void* first, const void* second, index_t count, void* into) {
  const auto *a = static_cast<const T*>(first), *b = static_cast<const T*>(second);
  auto* out = static_cast<T*>(into);
  for_elements(
      "gradcomp::kernels::combine_wholes", exec, count, KOKKOS_LAMBDA(index_t i) { return Two<T>{a[i], b[i]}; },
      KOKKOS_LAMBDA(index_t i, const Two<T>& x) { out[i] = combine_whole(op, x.a, x.b); });
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
