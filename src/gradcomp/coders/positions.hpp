#pragma once
// What writes indices one by one, not by their gaps: packed, bitmap and Elias-Fano (index_coding.hpp).
#include "gradcomp/coders/index_coding.hpp"
#include "gradcomp/kernels/pack/bit_fields.hpp"

namespace gradcomp::coders {

/// Each writes the index_bytes() of its coding to `out`; kept >= 1.
void encode_packed(const Exec& exec, const std::uint32_t* indices, index_t elements, index_t kept, std::uint32_t* out);
void encode_bitmap(const Exec& exec, const std::uint32_t* indices, index_t elements, index_t kept, std::uint32_t* out);
void encode_elias_fano(const Exec& exec, const std::uint32_t* indices, index_t elements, index_t kept,
                       std::uint32_t* out);

/// The parts of a section that may end inside a word, whose padding the caller must look at; `good` is false when the
/// section does not hold `kept` indices.
struct Positions {
  bool good = true;
  kernels::BitString first, second;
};

/// Each reads a section of index_bytes(); the indices may be out of range or order. `starts` has room for the chunks of
/// the section's words. All but packed wait for exec.
Positions decode_packed(const Exec& exec, const std::uint32_t* words, index_t elements, index_t kept,
                        std::uint32_t* indices);
Positions decode_bitmap(const Exec& exec, const std::uint32_t* words, index_t elements, index_t kept,
                        const Vector<std::uint64_t>& starts, std::uint32_t* indices);
Positions decode_elias_fano(const Exec& exec, const std::uint32_t* words, index_t elements, index_t kept,
                            const Vector<std::uint64_t>& starts, std::uint32_t* indices);

}  // namespace gradcomp::coders
