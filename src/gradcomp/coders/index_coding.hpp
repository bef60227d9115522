#pragma once
// Ways to write `kept` strictly ascending indices below `elements` (at most 2^32 - 1), and how many bytes each takes.
// Every section is a multiple of 4 bytes, and empty when nothing is kept. Entropy bound: log2 C(elements, kept) bits.
//
//   u32         4 bytes each
//   packed      ceil(log2 elements) bits each, one bit string (kernels/pack/bit_fields.hpp)
//   bitmap      bit i set where index i is kept; ceil(elements / 32) words
//   delta       gap - 1 as a LEB128 varint of 1 to 5 bytes, shortest form; zero bytes to a multiple of 4. The first gap
//               is counted from -1
//   rice        gap - 1 = quotient 2^b + remainder (Rice 1979): the remainders as fields of b bits, then the quotients
//               in unary (zeros, then a one), each part in whole words. b follows from elements and kept
//   elias_fano  the low l bits as fields, then one bit vector in which entry i of index x sets bit (x >> l) + i (Elias,
//               J. ACM 1974; Fano 1971); l is the one that takes the fewest words
#include <string>

#include "gradcomp/core/types.hpp"

namespace gradcomp::coders {

/// On the wire: bits 8 to 11 of PayloadHeader::flags.
enum class IndexCoding : std::uint8_t { u32, packed, bitmap, delta, rice, elias_fano };
inline constexpr int index_codings = 6;

/// What a sender is told to use: one coding, or whichever takes the fewest bytes for the entries at hand.
struct IndexChoice {
  IndexCoding coding = IndexCoding::u32;
  bool automatic = false;

  bool admits(IndexCoding other) const { return automatic || other == coding; }
};

std::string to_string(IndexCoding coding);
/// A name of to_string() or "auto"; throws Error for any other.
IndexChoice index_choice(const std::string& name);

/// True where the size follows from elements and kept alone: all but delta and rice.
constexpr bool is_closed_form(IndexCoding coding) {
  return coding != IndexCoding::delta && coding != IndexCoding::rice;
}

/// Bytes of the section. For delta and rice, whose sizes depend on the gaps: the most for any `kept` indices.
index_t index_bytes(IndexCoding coding, index_t elements, index_t kept);

/// Most bytes of a section with up to `capacity` entries.
index_t index_capacity_bytes(const IndexChoice& choice, index_t elements, index_t capacity);

/// Width of a packed field: ceil(log2 elements), 0 for a single element.
int packed_width(index_t elements);

/// Width b of a Rice remainder: the best for geometric gaps of mean elements / kept (Kiely, IPN Progress Report 42-159,
/// 2004), in integers, so that all machines agree.
int rice_width(index_t elements, index_t kept);

/// Width l of the low bits of Elias-Fano, and bits of its unary part.
int elias_fano_width(index_t elements, index_t kept);
constexpr index_t elias_fano_upper_bits(index_t elements, index_t kept, int width) {
  return kept + ((elements - 1) >> width);
}

/// log2 C(elements, kept) / kept: what no coding of random positions can beat, in bits per kept entry.
double entropy_bits(index_t elements, index_t kept);

}  // namespace gradcomp::coders
