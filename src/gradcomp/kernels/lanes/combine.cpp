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

template <class Format, class Code>
void combine_float_terms(const Exec& exec, ReduceOp op, const void* terms, int ranks, index_t count, void* into) {
  const auto* from = static_cast<const Code*>(terms);
  auto* out = static_cast<Code*>(into);
  Kokkos::parallel_for(
      "gradcomp::kernels::combine_float_terms", IndexRange(exec, 0, count), KOKKOS_LAMBDA(const index_t i) {
        float value = Format::decode(from[i]);
        for (int t = 1; t < ranks; ++t) value = combine(op, value, Format::decode(from[t * count + i]));
        out[i] = Format::encode(value);
      });
}

template <class T>
void combine_whole_terms(const Exec& exec, ReduceOp op, const void* terms, int ranks, index_t count, void* into) {
  const auto* from = static_cast<const T*>(terms);
  auto* out = static_cast<T*>(into);
  Kokkos::parallel_for(
      "gradcomp::kernels::combine_whole_terms", IndexRange(exec, 0, count), KOKKOS_LAMBDA(const index_t i) {
        T value = from[i];
        for (int t = 1; t < ranks; ++t) value = combine_whole(op, value, from[t * count + i]);
        out[i] = value;
      });
}

/// f(format or type) for the elements of a call.
template <class Floats, class Wholes>
void with_type(DType type, ReduceOp op, const Floats& floats, const Wholes& wholes) {
  require(op != ReduceOp::bor || (type != DType::f32 && type != DType::f16 && type != DType::bf16),
          "combine: floats have no bitwise or; allowed: sum, max, min");
  switch (type) {
    case DType::f32:
      return floats(Single(), float());
    case DType::f16:
      return floats(Half(), std::uint16_t());
    case DType::bf16:
      return floats(Bfloat(), std::uint16_t());
    case DType::i8:
      return wholes(std::int8_t());
    case DType::u8:
      return wholes(std::uint8_t());
    case DType::i32:
      return wholes(std::int32_t());
    case DType::i64:
      return wholes(std::int64_t());
  }
}

void combine(const Exec& exec, DType type, ReduceOp op, const void* first, const void* second, index_t count,
             void* into) {
  with_type(
      type, op,
      [&]<class Format, class Code>(Format, Code) {
        combine_floats<Format, Code>(exec, op, first, second, count, into);
      },
      [&]<class T>(T) { combine_wholes<T>(exec, op, first, second, count, into); });
}

void combine_terms(const Exec& exec, DType type, ReduceOp op, const void* terms, int ranks, index_t count, void* into) {
  with_type(
      type, op,
      [&]<class Format, class Code>(Format, Code) {
        combine_float_terms<Format, Code>(exec, op, terms, ranks, count, into);
      },
      [&]<class T>(T) { combine_whole_terms<T>(exec, op, terms, ranks, count, into); });
}

}  // namespace gradcomp::kernels
