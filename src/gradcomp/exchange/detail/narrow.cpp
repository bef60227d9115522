#include "gradcomp/exchange/detail/narrow.hpp"

#include "gradcomp/kernels/lanes/combine.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"
#include "gradcomp/kernels/quantise/casts.hpp"
#include "gradcomp/kernels/quantise/nearest_code.hpp"

namespace gradcomp {
namespace {

constexpr index_t block_values = 256;
constexpr std::int32_t no_number = 255;  ///< exponent of a block with a value that is not finite

index_t blocks_of(index_t values) { return (values + block_values - 1) / block_values; }

/// Biased exponent of the smallest power of two of which 127 reach the largest magnitude of a block. For the largest
/// floats the exponent is limited, because the scale times a code would be infinite.
KOKKOS_FORCEINLINE_FUNCTION std::int32_t block_exponent(std::int32_t largest) {
  constexpr std::int32_t infinity = 0x7f800000, above_127_of_128 = 0x7e0000, low = 1, high = 248;
  if (largest >= infinity) return no_number;
  const std::int32_t exponent = (largest >> 23) - 6 + ((largest & 0x7fffff) > above_127_of_128 ? 1 : 0);
  return exponent < low ? low : exponent > high ? high : exponent;
}

KOKKOS_FORCEINLINE_FUNCTION float power_of_two(std::int32_t biased) {
  return Kokkos::bit_cast<float>(static_cast<std::uint32_t>(biased) << 23);
}

KOKKOS_FORCEINLINE_FUNCTION float widened(std::int32_t exponent, std::int8_t code) {
  if (exponent == no_number) return Kokkos::bit_cast<float>(0x7fc00000u);
  return static_cast<float>(code) * power_of_two(exponent);
}

KOKKOS_FORCEINLINE_FUNCTION std::int8_t to_code(std::int32_t exponent, float x) {
  if (exponent == no_number) return 1;
  return static_cast<std::int8_t>(kernels::nearest_code(x * power_of_two(254 - exponent)));
}

}  // namespace

void narrow_blocks(const Exec& exec, const Span<float>& from, bool keep, std::byte* to) {
  const auto values = static_cast<index_t>(from.size());
  const index_t blocks = blocks_of(values);
  auto* exponents = reinterpret_cast<std::uint8_t*>(to);
  auto* codes = reinterpret_cast<std::int8_t*>(to + blocks);
  kernels::for_warps(
      "gradcomp::exchange::narrow_blocks", exec, blocks, KOKKOS_LAMBDA(const kernels::Warp& warp, index_t b) {
        const index_t first = b * block_values, end = Kokkos::min(values, first + block_values);
        kernels::Lanes<std::int32_t> most;
        warp.each([&](int l) { most[l] = 0; });
        for (index_t row = first; row < end; row += kernels::warp_lanes) {
          warp.each([&](int l) {
            if (row + l >= end) return;
            const std::int32_t bits = kernels::magnitude(from(row + l));
            most[l] = bits > most[l] ? bits : most[l];
          });
        }
        const std::int32_t exponent = block_exponent(warp.max(most));
        warp.once([&] { exponents[b] = static_cast<std::uint8_t>(exponent); });
        for (index_t row = first; row < end; row += kernels::warp_lanes) {
          warp.each([&](int l) {
            if (row + l >= end) return;
            const std::int8_t code = to_code(exponent, from(row + l));
            codes[row + l] = code;
            if (keep) from(row + l) = widened(exponent, code);
          });
        }
      });
}

void narrow_values(const Exec& exec, const Span<float>& from, Width width, bool keep, std::uint16_t* to) {
  const bool half = width == Width::fp16;
  Kokkos::parallel_for(
      "gradcomp::exchange::narrow_values", IndexRange(exec, 0, static_cast<index_t>(from.size())),
      KOKKOS_LAMBDA(const index_t i) {
        to[i] = half ? kernels::Half::encode(from(i)) : kernels::Bfloat::encode(from(i));
        if (keep) from(i) = half ? kernels::Half::decode(to[i]) : kernels::Bfloat::decode(to[i]);
      });
}

index_t narrow_bytes(Width width, index_t values) {
  if (width == Width::own) return 4 * values;
  return width == Width::int8 ? values + blocks_of(values) : 2 * values;
}

void narrow(const Exec& exec, const Span<float>& from, Width width, bool keep, std::byte* to) {
  if (width == Width::int8) {
    narrow_blocks(exec, from, keep, to);
  } else {
    narrow_values(exec, from, width, keep, reinterpret_cast<std::uint16_t*>(to));
  }
}

void widen(const Exec& exec, const std::byte* from, Width width, bool combines, ReduceOp op, const Span<float>& into) {
  const auto values = static_cast<index_t>(into.size());
  const auto* exponents = reinterpret_cast<const std::uint8_t*>(from);
  const auto* codes = reinterpret_cast<const std::int8_t*>(from + blocks_of(values));
  const auto* halves = reinterpret_cast<const std::uint16_t*>(from);
  Kokkos::parallel_for(
      "gradcomp::exchange::widen", IndexRange(exec, 0, values), KOKKOS_LAMBDA(const index_t i) {
        const float x = width == Width::int8   ? widened(exponents[i / block_values], codes[i])
                        : width == Width::fp16 ? kernels::Half::decode(halves[i])
                                               : kernels::Bfloat::decode(halves[i]);
        into(i) = combines ? kernels::combine(op, into(i), x) : x;
      });
}

}  // namespace gradcomp
