#include "gradcomp/coders/value_coder.hpp"

#include <algorithm>
#include <iterator>

#include "gradcomp/coders/int8_blocks.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/quantise/casts.hpp"

namespace gradcomp::coders {

namespace {

constexpr const char* value_names[value_codings] = {"f32", "f16", "bf16", "int8"};

void copy_values(const Exec& exec, const float* from, index_t kept, float* to) {
  const auto count = static_cast<std::size_t>(kept);
  if (from != to) Kokkos::deep_copy(exec, Span<float>(to, count), Span<const float>(from, count));
}

template <class Format>
void encode_halves(const Exec& exec, const float* values, index_t kept, std::uint16_t* out, float* decoded) {
  const index_t padded = value_bytes(ValueCoding::f16, kept) / 2;
  Kokkos::parallel_for(
      "gradcomp::coders::encode_halves", IndexRange(exec, 0, padded), KOKKOS_LAMBDA(index_t i) {
        std::uint16_t bits = 0;
        if (i < kept) {
          const float largest = Format::largest;
          bits = Format::encode(Kokkos::min(Kokkos::max(values[i], -largest), largest));
          decoded[i] = Format::decode(bits);
        }
        out[i] = bits;
      });
}

template <class Format>
index_t decode_halves(const Exec& exec, const std::uint16_t* in, index_t kept, float* values) {
  const index_t padded = value_bytes(ValueCoding::f16, kept) / 2;
  index_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::coders::decode_halves", IndexRange(exec, 0, padded),
      KOKKOS_LAMBDA(index_t i, index_t & sum) {
        const float value = Format::decode(in[i]);
        sum += Source::is_finite(value) && (i < kept || in[i] == 0) ? 0 : 1;
        if (i < kept) values[i] = value;
      },
      bad);
  wait(exec, "gradcomp::coders::decode_values");
  return bad;
}

index_t check_floats(const Exec& exec, const float* in, index_t kept) {
  index_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::coders::check_floats", IndexRange(exec, 0, kept),
      KOKKOS_LAMBDA(index_t i, index_t & sum) { sum += Source::is_finite(in[i]) ? 0 : 1; }, bad);
  return bad;
}

}  // namespace

std::string to_string(ValueCoding coding) { return value_names[static_cast<int>(coding)]; }

ValueCoding value_coding(const std::string& name) {
  const auto found = std::find(std::begin(value_names), std::end(value_names), name);
  require(found != std::end(value_names), "value coding '{}' is unknown; allowed: f32, f16, bf16, int8", name);
  return static_cast<ValueCoding>(found - std::begin(value_names));
}

void encode_values(const Exec& exec, ValueCoding coding, const float* values, index_t kept, std::byte* out,
                   float* decoded) {
  switch (coding) {
    case ValueCoding::f32:
      copy_values(exec, values, kept, reinterpret_cast<float*>(out));
      copy_values(exec, values, kept, decoded);
      return;
    case ValueCoding::f16:
      return encode_halves<kernels::Half>(exec, values, kept, reinterpret_cast<std::uint16_t*>(out), decoded);
    case ValueCoding::bf16:
      return encode_halves<kernels::Bfloat>(exec, values, kept, reinterpret_cast<std::uint16_t*>(out), decoded);
    case ValueCoding::int8:
      encode_int8(exec, values, kept, reinterpret_cast<float*>(out),
                  reinterpret_cast<std::int8_t*>(out + 4 * block_count(kept)), decoded);
  }
}

const float* decode_values(const Exec& exec, ValueCoding coding, const Span<const std::byte>& section, index_t kept,
                           float* values) {
  require(static_cast<index_t>(section.size()) == value_bytes(coding, kept),
          "value section: {} bytes, expected {} for {} entries in {}", section.size(), value_bytes(coding, kept), kept,
          to_string(coding));
  const std::byte* const in = section.data();
  index_t bad = 0;
  switch (coding) {
    case ValueCoding::f32:
      bad = check_floats(exec, reinterpret_cast<const float*>(in), kept);
      break;
    case ValueCoding::f16:
      bad = decode_halves<kernels::Half>(exec, reinterpret_cast<const std::uint16_t*>(in), kept, values);
      break;
    case ValueCoding::bf16:
      bad = decode_halves<kernels::Bfloat>(exec, reinterpret_cast<const std::uint16_t*>(in), kept, values);
      break;
    case ValueCoding::int8:
      bad = decode_int8(exec, reinterpret_cast<const float*>(in),
                        reinterpret_cast<const std::int8_t*>(in + 4 * block_count(kept)), kept, values);
  }
  require(bad == 0, "value section: {} of {} values in {} are not finite, or scales or padding wrong", bad, kept,
          to_string(coding));
  return coding == ValueCoding::f32 ? reinterpret_cast<const float*>(in) : values;
}

}  // namespace gradcomp::coders
