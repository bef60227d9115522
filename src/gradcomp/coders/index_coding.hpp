#pragma once
// An index coder writes `kept` strictly ascending indices below `elements` (at most 2^32 - 1). Each coder is a file
// in coders/index_coders/, which begins with its bytes. CMake finds them: to add a coder, add a file
// (docs/extend.md). The size of a section is a multiple of 4 bytes; if nothing is kept, the section is empty.
// Entropy bound: log2 C(elements, kept) bits.
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/coders/coder_list.hpp"
#include "gradcomp/core/types.hpp"
#include "gradcomp/kernels/pack/bit_fields.hpp"

namespace gradcomp {
namespace coders {

/// Sums over all gaps that the coders of gaps need. One pass finds them for all these coders (gaps.hpp).
struct GapSums {
  index_t varint_bytes = 0;  ///< bytes of all gaps as LEB128 varints
  index_t quotients = 0;     ///< sum of the quotients of the gaps by 2^b, with b = rice_width()
};

/// The indices of one message, with `kept` >= 1.
struct IndexList {
  const std::uint32_t* indices = nullptr;
  index_t elements = 0, kept = 0;
  mutable std::optional<GapSums> gaps = {};  ///< set by the first gap_sums()
};

/// Work space of a coder. Its work() says how many words.
using Work = Vector<std::uint64_t>;

/// The result of IndexCoderEntry::decode.
struct FoundIndices {
  const std::uint32_t* indices = nullptr;  ///< nullptr: encode() cannot have written the section
  /// Parts of the section that may end inside a word. The caller checks that the bits behind them are zero.
  kernels::BitString first = {}, second = {};
};

/// What index_coders/<name>.cpp defines: `coders::IndexCoderEntry gradcomp::index_coders::<name>()`. Its functions are
/// called once per message, with kept >= 1.
struct IndexCoderEntry {
  std::string name;
  std::uint32_t id = 0;   ///< 0 to 15, in bits 8 to 11 of PayloadHeader::flags; never change it
  std::string summary;    ///< one line
  std::string size;       ///< bytes of a section with k kept of n elements, as a formula for the docs
  bool in_place = false;  ///< a section is the array of indices itself: nothing is copied

  /// Bytes of a section. If the size depends on the indices, the largest size for any `kept` indices.
  index_t (*max_bytes)(index_t elements, index_t kept) = nullptr;
  /// The largest size of a section of up to `capacity` indices; nullptr if max_bytes() grows with kept.
  index_t (*capacity_bytes)(index_t elements, index_t capacity) = nullptr;
  /// Bytes of the section of these indices; may wait for exec. nullptr if max_bytes() is exact.
  index_t (*bytes)(const Exec& exec, const IndexList& list) = nullptr;
  /// Words of work space for up to `capacity` indices in sections of up to `max_bytes` bytes; nullptr if it needs none.
  index_t (*work)(index_t capacity, index_t max_bytes) = nullptr;
  /// Writes the section to `out`, aligned to 4 bytes, and returns its size in bytes. Waits for exec only if the size
  /// depends on the indices.
  index_t (*encode)(const Exec& exec, const IndexList& list, const Work& work, std::byte* out) = nullptr;
  /// Reads a section, aligned to 4 bytes, of max_bytes() bytes, or of at most that if bytes() is given. Writes `kept`
  /// indices and nothing else, whatever the section holds. The caller checks their range and order.
  FoundIndices (*decode)(const Exec& exec, const Span<const std::byte>& section, index_t elements, index_t kept,
                         const Work& work, std::uint32_t* indices) = nullptr;

  bool has_fixed_size() const { return bytes == nullptr; }
  bool is_complete() const { return max_bytes != nullptr && encode != nullptr && decode != nullptr; }
};

/// All index coders, in the order of their ids. Throws Error if two have the same id.
const CoderList<IndexCoderEntry>& index_coder_list();
/// The coder called `name`. If there is none, throws Error with the nearest name and a list of all.
const IndexCoderEntry& find_index_coder(const std::string& name);

/// What a sender is told to use: one coder, or for each message the coder that takes the fewest bytes.
struct IndexChoice {
  const IndexCoderEntry* coder = nullptr;  ///< of an automatic choice: the coder that an empty message names
  bool automatic = false;

  bool admits(const IndexCoderEntry& other) const { return automatic || &other == coder; }
  /// Whether the size of a section is known before the indices are.
  bool has_fixed_size() const { return !automatic && coder->has_fixed_size(); }
};

/// The names that index_choice() understands: those of the coders, in the order of their ids, and "auto".
std::vector<std::string> index_choice_names();
/// The choice with this name. Throws Error for any other name, as find_index_coder() does.
IndexChoice index_choice(const std::string& name);

/// max_bytes() of the coder; 0 if nothing is kept.
index_t index_bytes(const IndexCoderEntry& coder, index_t elements, index_t kept);

/// The largest size of a section with up to `capacity` entries.
index_t index_capacity_bytes(const IndexChoice& choice, index_t elements, index_t capacity);

/// log2 C(elements, kept) / kept: bits per kept entry that every coding of random positions needs on average.
double entropy_bits(index_t elements, index_t kept);

}  // namespace coders

/// All entries, sorted by name. Defined in the generated source of the coders layer.
const std::vector<coders::IndexCoderEntry>& all_index_coders();

}  // namespace gradcomp
