#include "gradcomp/coders/index_coding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/pack/bit_fields.hpp"

namespace gradcomp::coders {
namespace {

using kernels::field_words;

constexpr const char* index_names[index_codings] = {"u32", "packed", "bitmap", "delta", "rice", "elias_fano"};

index_t elias_fano_words(index_t elements, index_t kept, int width) {
  return field_words(kept, width) + field_words(elias_fano_upper_bits(elements, kept, width), 1);
}

/// The quotients sum to at most (elements - kept) / 2^width, as all gaps - 1 sum to at most elements - kept.
index_t rice_words(index_t elements, index_t kept, int width) {
  return field_words(kept, width) + field_words(kept + ((elements - kept) >> width), 1);
}

/// One byte each, and one more for every gap that reaches 2^7, 2^14, 2^21, 2^28, of which the sum of the gaps allows
/// few.
index_t delta_bytes(index_t elements, index_t kept) {
  index_t bytes = kept;
  for (const int bits : {7, 14, 21, 28}) bytes += std::min(kept, elements >> bits);
  return (bytes + 3) / 4 * 4;
}

/// Most kept <= capacity whose Rice remainders have at least `width` bits; the width falls as kept grows.
index_t last_with_rice_width(index_t elements, index_t capacity, int width) {
  index_t low = 0, high = capacity;
  while (low < high) {
    const index_t middle = (low + high + 1) / 2;
    const bool is_wide = rice_width(elements, middle) >= width;
    low = is_wide ? middle : low;
    high = is_wide ? high : middle - 1;
  }
  return low;
}

/// For a given width the bound grows with kept, but not over the steps between widths: the most is at the end of a
/// step.
index_t rice_capacity_bytes(index_t elements, index_t capacity) {
  index_t most = 0;
  for (int width = 0; width < 32; ++width) {
    const index_t kept = last_with_rice_width(elements, capacity, width);
    if (kept > 0) most = std::max(most, index_bytes(IndexCoding::rice, elements, kept));
  }
  return most;
}

}  // namespace

std::string to_string(IndexCoding coding) { return index_names[static_cast<int>(coding)]; }

IndexChoice index_choice(const std::string& name) {
  if (name == "auto") return {IndexCoding::u32, true};
  const auto found = std::find(std::begin(index_names), std::end(index_names), name);
  require(found != std::end(index_names),
          "index coding '{}' is unknown; allowed: u32, packed, bitmap, delta, rice, elias_fano, auto", name);
  return {static_cast<IndexCoding>(found - std::begin(index_names)), false};
}

int packed_width(index_t elements) {
  return elements <= 1 ? 0 : std::bit_width(static_cast<std::uint64_t>(elements - 1));
}

int rice_width(index_t elements, index_t kept) {
  // b = 1 + floor(log2(ln(golden ratio) / -ln(1 - p))) with p = kept / elements, 1 / -ln(1 - p) = 1 / p - 1 / 2 - ..,
  // and 493 / 512 for 2 ln(golden ratio) = 0.9624: the largest b with 2^b <= 0.9624 (1 / p - 1 / 2)
  int width = 0;
  while (width < 31 && (kept << (width + 2)) * 512 <= (2 * elements - kept) * 493) ++width;
  return width;
}

int elias_fano_width(index_t elements, index_t kept) {
  int best = 0;
  for (int width = 1; width < 32; ++width)
    if (elias_fano_words(elements, kept, width) < elias_fano_words(elements, kept, best)) best = width;
  return best;
}

index_t index_bytes(IndexCoding coding, index_t elements, index_t kept) {
  if (kept == 0) return 0;
  switch (coding) {
    case IndexCoding::u32:
      return 4 * kept;
    case IndexCoding::packed:
      return 4 * field_words(kept, packed_width(elements));
    case IndexCoding::bitmap:
      return 4 * field_words(elements, 1);
    case IndexCoding::delta:
      return delta_bytes(elements, kept);
    case IndexCoding::rice:
      return 4 * rice_words(elements, kept, rice_width(elements, kept));
    case IndexCoding::elias_fano:
      break;
  }
  return 4 * elias_fano_words(elements, kept, elias_fano_width(elements, kept));
}

index_t index_capacity_bytes(const IndexChoice& choice, index_t elements, index_t capacity) {
  const auto most = [&](IndexCoding coding) {  // all but rice grow with kept
    return coding == IndexCoding::rice ? rice_capacity_bytes(elements, capacity)
                                       : index_bytes(coding, elements, capacity);
  };
  if (!choice.automatic) return most(choice.coding);
  index_t least = most(IndexCoding::u32);
  for (int c = 1; c < index_codings; ++c) least = std::min(least, most(static_cast<IndexCoding>(c)));
  return least;
}

double entropy_bits(index_t elements, index_t kept) {
  if (kept == 0) return 0;
  const auto n = static_cast<double>(elements), k = static_cast<double>(kept);
  return (std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)) / (k * std::numbers::ln2);
}

}  // namespace gradcomp::coders
