#pragma once
// Vectors of the native width for the host kernels. With GCC's vector extension instead of intrinsics, the same source
// serves SSE, AVX2, AVX-512 and others, float and double. The width must be the native one: vectors of 64 bytes on AVX2
// go through memory, which costs a factor of 20.
#include <cstring>

namespace gradcomp::nn::host {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
inline constexpr int vector_registers = 32;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
inline constexpr int vector_registers = 16;
#else
inline constexpr int vector_bytes = 16;
inline constexpr int vector_registers = 16;
#endif

template <class T>
struct Simd {
  typedef T Pack __attribute__((vector_size(vector_bytes)));
  static constexpr int width = vector_bytes / sizeof(T);
};

template <class T>
using Pack = typename Simd<T>::Pack;

/// Loads from any address, because rows of three channels are not aligned.
template <class T>
[[gnu::always_inline]] inline Pack<T> load(const T* from) {
  Pack<T> value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
[[gnu::always_inline]] inline void store(T* to, const Pack<T>& value) {
  std::memcpy(to, &value, sizeof value);
}

/// Prefetches `count` elements. The addresses need not be valid.
template <class T>
[[gnu::always_inline]] inline void prefetch(const T* from, long count) {
  for (long i = 0; i < count; i += 64 / long(sizeof(T))) __builtin_prefetch(from + i);
}

}  // namespace gradcomp::nn::host
