#pragma once
// Gaps between ascending indices, less one, the first counted from -1: what delta and rice write.
#include "gradcomp/coders/index_coding.hpp"
#include "gradcomp/kernels/pack/bit_fields.hpp"

namespace gradcomp::coders {

struct Gaps {
  const std::uint32_t* indices;

  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(index_t i) const {
    return i == 0 ? indices[0] : indices[i] - indices[i - 1] - 1;
  }
};

/// Bytes of a LEB128 varint.
KOKKOS_FORCEINLINE_FUNCTION int varint_bytes(std::uint32_t value) {
  return 1 + (value >= 1u << 7) + (value >= 1u << 14) + (value >= 1u << 21) + (value >= 1u << 28);
}

/// Bytes of the sections that delta and rice would write. Waits for exec.
struct GapSizes {
  index_t delta, rice;
};
GapSizes gap_sizes(const Exec& exec, const std::uint32_t* indices, index_t elements, index_t kept);

/// Both write the section and return its bytes. `starts` has room for the chunks of entries. Wait for exec.
index_t encode_delta(const Exec& exec, const std::uint32_t* indices, index_t kept, const Vector<std::uint64_t>& starts,
                     std::uint8_t* out);
index_t encode_rice(const Exec& exec, const std::uint32_t* indices, index_t elements, index_t kept,
                    const Vector<std::uint64_t>& starts, std::uint32_t* out);

/// Both return false when the section is not one of `kept` gaps in their only form; the indices may then be anything,
/// and exceed the bucket in any case. `starts` has room for the chunks of the section's words and of entries. Wait for
/// exec.
bool decode_delta(const Exec& exec, const Span<const std::byte>& section, index_t kept,
                  const Vector<std::uint64_t>& starts, std::uint32_t* indices);
bool decode_rice(const Exec& exec, const Span<const std::byte>& section, index_t elements, index_t kept,
                 const Vector<std::uint64_t>& starts, std::uint32_t* indices);

/// indices[i] = sum over j <= i of (gap(j) + 1), less one, plus quotients[i] 2^b where there are quotients (zeros
/// before the one of entry i, that is quotients summed up to i). What exceeds 32 bits becomes 2^32 - 1, which no bucket
/// has. `gaps` and `quotients` may be `indices`.
void sum_gaps(const Exec& exec, const kernels::BitFields& gaps, const std::uint32_t* quotients, index_t kept,
              const Vector<std::uint64_t>& starts, std::uint32_t* indices);

}  // namespace gradcomp::coders
