#pragma once
// The value coders f16 and bf16: 2 bytes per value, then zero bytes up to a multiple of 4. Format is one of the formats
// in kernels/quantise/casts.hpp.
#include <string>

#include "gradcomp/coders/value_coder.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/quantise/casts.hpp"

namespace gradcomp::coders {

inline index_t halves_bytes(index_t kept) { return (kept + 1) / 2 * 4; }

/// ValueCoderEntry::encode. Clamps values to the largest number of the format.
template <class Format>
static void encode_halves(const Exec& exec, const float* values, index_t kept, std::byte* section, float* decoded) {
  auto* const out = reinterpret_cast<std::uint16_t*>(section);
  Kokkos::parallel_for(
      "gradcomp::coders::encode_halves", IndexRange(exec, 0, halves_bytes(kept) / 2), KOKKOS_LAMBDA(index_t i) {
        std::uint16_t bits = 0;
        if (i < kept) {
          const float largest = Format::largest;
          bits = Format::encode(Kokkos::min(Kokkos::max(values[i], -largest), largest));
          decoded[i] = Format::decode(bits);
        }
        out[i] = bits;
      });
}

/// ValueCoderEntry::decode.
template <class Format>
static index_t decode_halves(const Exec& exec, const std::byte* section, index_t kept, float* values) {
  const auto* const in = reinterpret_cast<const std::uint16_t*>(section);
  index_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::coders::decode_halves", IndexRange(exec, 0, halves_bytes(kept) / 2),
      KOKKOS_LAMBDA(index_t i, index_t & sum) {
        const float value = Format::decode(in[i]);
        sum += Source::is_finite(value) && (i < kept || in[i] == 0) ? 0 : 1;
        if (i < kept) values[i] = value;
      },
      bad);
  wait(exec, "gradcomp::coders::decode_values");
  return bad;
}

/// The entry of a coder with this format.
template <class Format>
ValueCoderEntry halves_entry(std::string name, std::uint32_t id, std::string summary) {
  ValueCoderEntry entry;
  entry.name = std::move(name);
  entry.id = id;
  entry.summary = std::move(summary);
  entry.size = "2 k";
  entry.bytes = halves_bytes;
  entry.encode = encode_halves<Format>;
  entry.decode = decode_halves<Format>;
  return entry;
}

}  // namespace gradcomp::coders
