#pragma once
// An index coder writes `kept` strictly ascending indices below `elements` (at most 2^32 - 1). Each is a file pair of
// coders/index_coders/, found by CMake, whose header describes its bytes: adding one is adding its file pair
// (docs/adding-a-coder.md). Every section is a multiple of 4 bytes, and empty when nothing is kept. Entropy bound:
// log2 C(elements, kept) bits.
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/coders/coder_list.hpp"
#include "gradcomp/core/types.hpp"
#include "gradcomp/kernels/pack/bit_fields.hpp"

namespace gradcomp {
namespace coders {

/// What coders of gaps need to know of all gaps: one pass, which serves all of them (gaps.hpp).
struct GapSums {
  index_t varint_bytes = 0;  ///< of the gaps as LEB128 varints
  index_t quotients = 0;     ///< of the gaps by 2^b, b as rice_width() says
};

/// The indices of one message: `kept` >= 1.
struct IndexList {
  const std::uint32_t* indices = nullptr;
  index_t elements = 0, kept = 0;
  mutable std::optional<GapSums> gaps = {};  ///< once gap_sums() was asked
};

/// Work space of a coder, of as many words as its work() says.
using Work = Vector<std::uint64_t>;

/// What a coder read.
struct FoundIndices {
  const std::uint32_t* indices = nullptr;  ///< nullptr: the section is not what encode() writes
  /// Parts of the section that may end inside a word. The caller checks that the bits behind them are zero.
  kernels::BitString first = {}, second = {};
};

/// What index_coders/<name>.cpp defines: `coders::IndexCoderEntry gradcomp::index_coders::<name>()`. Its functions are
/// called once a message, with kept >= 1.
struct IndexCoderEntry {
  std::string name;
  std::uint32_t id = 0;   ///< on the wire, in bits 8 to 11 of PayloadHeader::flags: 0 to 15, never to be changed
  std::string summary;    ///< one line
  std::string size;       ///< bytes of a section, as a formula; k kept of n elements
  bool in_place = false;  ///< a section is the array of indices itself: nothing is copied

  /// Bytes of a section; where the size depends on the indices, the most for any `kept` indices.
  index_t (*max_bytes)(index_t elements, index_t kept) = nullptr;
  /// Most bytes of a section of up to `capacity` indices; nullptr where max_bytes() grows with kept.
  index_t (*capacity_bytes)(index_t elements, index_t capacity) = nullptr;
  /// Bytes of the section of these indices; may wait for exec. nullptr where max_bytes() is exact.
  index_t (*bytes)(const Exec& exec, const IndexList& list) = nullptr;
  /// Words of work space, for up to `capacity` indices in sections of up to `max_bytes` bytes; nullptr: none.
  index_t (*work)(index_t capacity, index_t max_bytes) = nullptr;
  /// Writes the section to `out`, aligned to 4, and returns its bytes. Waits for exec only where the size depends on
  /// the indices.
  index_t (*encode)(const Exec& exec, const IndexList& list, const Work& work, std::byte* out) = nullptr;
  /// Reads a section, aligned to 4, of max_bytes(), or of fewer where bytes() is given. Writes `kept` indices, and
  /// nothing else, whatever the section holds. They may be out of range or order: the caller checks that.
  FoundIndices (*decode)(const Exec& exec, const Span<const std::byte>& section, index_t elements, index_t kept,
                         const Work& work, std::uint32_t* indices) = nullptr;

  bool has_fixed_size() const { return bytes == nullptr; }
  bool is_complete() const { return max_bytes != nullptr && encode != nullptr && decode != nullptr; }
};

/// All index coders by id. Throws Error when two have one id.
const CoderList<IndexCoderEntry>& index_coder_list();
/// Throws Error that says the nearest name, and lists all, when there is none.
const IndexCoderEntry& find_index_coder(const std::string& name);

/// What a sender is told to use: one coder, or whichever takes the fewest bytes for the entries at hand.
struct IndexChoice {
  const IndexCoderEntry* coder = nullptr;  ///< of automatic choices the one that an empty message names
  bool automatic = false;

  bool admits(const IndexCoderEntry& other) const { return automatic || &other == coder; }
  /// Known before the indices are.
  bool has_fixed_size() const { return !automatic && coder->has_fixed_size(); }
};

/// Names that index_choice() understands: those of the coders, by id, and "auto".
std::vector<std::string> index_choice_names();
/// Throws Error for any other name, as find_index_coder() does.
IndexChoice index_choice(const std::string& name);

/// max_bytes() of the coder; 0 when nothing is kept.
index_t index_bytes(const IndexCoderEntry& coder, index_t elements, index_t kept);

/// Most bytes of a section with up to `capacity` entries.
index_t index_capacity_bytes(const IndexChoice& choice, index_t elements, index_t capacity);

/// log2 C(elements, kept) / kept: what no coding of random positions can beat, in bits per kept entry.
double entropy_bits(index_t elements, index_t kept);

}  // namespace coders

/// All entries, sorted by name. Defined in the generated source of the coders layer.
const std::vector<coders::IndexCoderEntry>& all_index_coders();

}  // namespace gradcomp
