#pragma once
// The types that all layers share. One build is for one kind of device.
#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gradcomp {

/// The execution space of this build. Every function that launches kernels takes an instance as its first argument.
using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;
using HostExec = Kokkos::DefaultHostExecutionSpace;

/// Owning one-dimensional device array. Allocate once, in `prepare` or a constructor.
template <class T>
using Vector = Kokkos::View<T*, Memory>;

/// Non-owning one-dimensional device array: the type of every gradient argument.
template <class T>
using Span = Kokkos::View<T*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Non-owning one-dimensional host array.
template <class T>
using HostSpan = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// True in every host-only build: the host reads device memory, and a launch has ended when it returns. (On machines
/// where host and device share memory, the first is true of a GPU too, the second is not.)
inline constexpr bool device_is_host = std::is_same_v<Exec, HostExec>;

using index_t = std::int64_t;

/// The policy of launches over elements: it counts with 64 bits, since a gradient may have more than 2^31 elements.
using IndexRange = Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>;

/// The `count` elements of `span` after the first `offset` ones.
template <class T>
Span<T> subspan(const Span<T>& span, index_t offset, index_t count) {
  return Span<T>(span.data() + offset, static_cast<std::size_t>(count));
}

/// Element types that messages and communicators carry.
enum class DType : std::uint8_t { f32, f16, bf16, i8, i32, i64, u8 };

/// Bytes of one element.
constexpr index_t size_of(DType type) {
  switch (type) {
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::i64:
      return 8;
    case DType::f16:
    case DType::bf16:
      return 2;
    default:
      return 1;
  }
}

/// How a communicator combines elements; bor: bitwise or.
enum class ReduceOp : std::uint8_t { sum, max, min, bor };

}  // namespace gradcomp
