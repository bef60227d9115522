// f32: each value in 4 bytes, exact.
#include "gradcomp/coders/value_coder.hpp"
#include "gradcomp/core/source.hpp"

namespace gradcomp::value_coders {
namespace {

index_t f32_bytes(index_t kept) { return 4 * kept; }

void copy_values(const Exec& exec, const float* from, index_t kept, float* to) {
  const auto count = static_cast<std::size_t>(kept);
  if (from != to) Kokkos::deep_copy(exec, Span<float>(to, count), Span<const float>(from, count));
}

void encode_f32(const Exec& exec, const float* values, index_t kept, std::byte* out, float* decoded) {
  copy_values(exec, values, kept, reinterpret_cast<float*>(out));
  copy_values(exec, values, kept, decoded);
}

index_t check_f32(const Exec& exec, const std::byte* section, index_t kept, float* /*values*/) {
  const auto* const in = reinterpret_cast<const float*>(section);
  index_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::coders::check_floats", IndexRange(exec, 0, kept),
      KOKKOS_LAMBDA(index_t i, index_t & sum) { sum += Source::is_finite(in[i]) ? 0 : 1; }, bad);
  return bad;
}

}  // namespace

coders::ValueCoderEntry f32() {
  coders::ValueCoderEntry entry;
  entry.name = "f32";
  entry.id = 0;
  entry.summary = "every value as it is";
  entry.size = "4 k";
  entry.exact = true;
  entry.in_place = true;
  entry.bytes = f32_bytes;
  entry.encode = encode_f32;
  entry.decode = check_f32;
  return entry;
}

}  // namespace gradcomp::value_coders
