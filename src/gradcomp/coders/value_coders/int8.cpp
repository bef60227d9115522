// int8: blocks of 256 values. First come the scales s of all blocks as floats, then one signed byte q per value, which
// is decoded to q s, then zero bytes up to a multiple of 4. s = max|v| / 127, and q = v / s rounded to nearest, ties to
// even: |v - q s| <= s / 2 except for rounding errors. A block whose s underflows to zero (max|v| < 2^-143) decodes to
// zeros. No s exceeds 0x1.0204p121, so that all decoded values are finite; decoders refuse larger ones, and q = -128.
#include "gradcomp/coders/value_coder.hpp"
#include "gradcomp/core/payload.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"
#include "gradcomp/kernels/quantise/nearest_code.hpp"

namespace gradcomp::value_coders {

using kernels::Lanes;
using kernels::Warp;
using kernels::warp_lanes;

namespace {

constexpr index_t value_block = 256;
constexpr float levels = 127;
/// The largest scale: 127 times this is just below the largest float, so that every decoded value is finite.
constexpr float largest_scale = 0x1.0204p121f;

index_t block_count(index_t kept) { return (kept + value_block - 1) / value_block; }

index_t int8_bytes(index_t kept) { return 4 * block_count(kept) + padded_bytes(kept); }

void encode_int8(const Exec& exec, const float* values, index_t kept, std::byte* out, float* decoded) {
  const index_t blocks = block_count(kept), padded = padded_bytes(kept);
  auto* const scales = reinterpret_cast<float*>(out);
  auto* const codes = reinterpret_cast<std::int8_t*>(out + 4 * blocks);
  kernels::for_warps(
      "gradcomp::coders::encode_int8", exec, blocks, KOKKOS_LAMBDA(const Warp& warp, index_t b) {
        const index_t first = b * value_block, end = Kokkos::min(kept, first + value_block);
        Lanes<std::int32_t> most;
        warp.each([&](int l) { most[l] = 0; });
        for (index_t row = first; row < end; row += warp_lanes) {
          Lanes<float> x;
          kernels::load_row(warp, values + row, static_cast<int>(end - row), x);
          warp.each([&](int l) {
            const std::int32_t bits = kernels::magnitude(x[l]);
            most[l] = bits > most[l] ? bits : most[l];
          });
        }
        const float largest = Kokkos::bit_cast<float>(static_cast<std::uint32_t>(warp.max(most)));
        const float scale_limit = largest_scale;  // min() takes references, and the constant has no address on devices
        const float scale = Kokkos::min(largest / levels, scale_limit);
        const float divisor = scale > 0 ? scale : 1;  // values as small as these have the code 0
        warp.once([&] { scales[b] = scale; });
        for (index_t row = first; row < end; row += warp_lanes) {
          const int active = static_cast<int>(Kokkos::min<index_t>(end - row, warp_lanes));
          const int room = static_cast<int>(Kokkos::min<index_t>(padded - row, warp_lanes));
          Lanes<float> x, back;
          Lanes<std::int8_t> code;
          kernels::load_row(warp, values + row, active, x);
          warp.each([&](int l) {
            // a denormal scale is rounded coarsely, so the quotient may exceed 127; nearest_code() clamps it
            const float q = kernels::nearest_code(x[l] / divisor);
            code[l] = static_cast<std::int8_t>(static_cast<std::int32_t>(q));
            back[l] = static_cast<float>(static_cast<std::int32_t>(q)) * scale;
          });
          kernels::store_row(warp, codes + row, room, code);
          kernels::store_row(warp, decoded + row, active, back);
        }
      });
}

index_t decode_int8(const Exec& exec, const std::byte* section, index_t kept, float* values) {
  const auto* const scales = reinterpret_cast<const float*>(section);
  const auto* const codes = reinterpret_cast<const std::int8_t*>(section + 4 * block_count(kept));
  const index_t padded = padded_bytes(kept);
  index_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::coders::decode_int8", IndexRange(exec, 0, padded),
      KOKKOS_LAMBDA(index_t i, index_t & sum) {
        if (i >= kept) {
          sum += codes[i] == 0 ? 0 : 1;
          return;
        }
        const float scale = scales[i / value_block];
        const bool positive = (Kokkos::bit_cast<std::uint32_t>(scale) >> 31) == 0;
        const bool good = positive && scale <= largest_scale && codes[i] != -128;
        sum += good ? 0 : 1;
        values[i] = static_cast<float>(codes[i]) * scale;
      },
      bad);
  wait(exec, "gradcomp::coders::decode_int8");
  return bad;
}

}  // namespace

coders::ValueCoderEntry int8() {
  coders::ValueCoderEntry entry;
  entry.name = "int8";
  entry.id = 3;
  entry.summary = "blocks of 256 with one scale";
  entry.size = "k + 4 ceil(k / 256)";
  entry.bytes = int8_bytes;
  entry.encode = encode_int8;
  entry.decode = decode_int8;
  return entry;
}

}  // namespace gradcomp::value_coders
