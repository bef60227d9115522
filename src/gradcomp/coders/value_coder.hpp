#pragma once
// A value coder writes the values of a sparse payload. Each is a file pair of coders/value_coders/, found by CMake,
// whose header describes its bytes: adding one is adding its file pair (docs/adding-a-coder.md). Every section is a
// multiple of 4 bytes.
#include <string>
#include <vector>

#include "gradcomp/coders/coder_list.hpp"
#include "gradcomp/core/types.hpp"

namespace gradcomp {
namespace coders {

/// What value_coders/<name>.cpp defines: `coders::ValueCoderEntry gradcomp::value_coders::<name>()`. Its functions are
/// called once a message.
struct ValueCoderEntry {
  std::string name;
  std::uint32_t id = 0;   ///< on the wire, in bits 12 to 15 of PayloadHeader::flags: 0 to 15, never to be changed
  std::string summary;    ///< one line
  std::string size;       ///< bytes of a section of k values, as a formula
  bool exact = false;     ///< receivers decode the values themselves
  bool in_place = false;  ///< a section is the array of values itself: nothing is copied. Needs `exact`

  /// Bytes of a section: a multiple of 4 that follows from `kept` alone and grows with it, 0 for none.
  index_t (*bytes)(index_t kept) = nullptr;
  /// Writes `kept` finite values to `out` (aligned to 4), and what receivers decode for them to `decoded`, which may be
  /// `values`. A coder in place must also take `out` at `values`.
  void (*encode)(const Exec& exec, const float* values, index_t kept, std::byte* out, float* decoded) = nullptr;
  /// Reads a section (aligned to 4) of bytes(kept) into `values`, and writes nothing else, whatever the section holds.
  /// Returns how much is wrong: values that are not finite, and what encode() does not write. Waits for exec. A coder
  /// in place only looks.
  index_t (*decode)(const Exec& exec, const std::byte* section, index_t kept, float* values) = nullptr;

  bool is_complete() const { return bytes != nullptr && encode != nullptr && decode != nullptr; }
};

/// All value coders by id. Throws Error when two have one id.
const CoderList<ValueCoderEntry>& value_coder_list();
/// Throws Error that says the nearest name, and lists all, when there is none.
const ValueCoderEntry& find_value_coder(const std::string& name);

/// Reads `kept` values with the coder into `values` and returns it; of a coder in place it returns where they are in
/// the section. Throws Error, with `values` unspecified, unless `section` (aligned to 4 bytes) has exactly their length
/// and is what encode() writes for some finite values. Waits for exec.
const float* decode_values(const Exec& exec, const ValueCoderEntry& coder, const Span<const std::byte>& section,
                           index_t kept, float* values);

}  // namespace coders

/// All entries, sorted by name. Defined in the generated source of the coders layer.
const std::vector<coders::ValueCoderEntry>& all_value_coders();

}  // namespace gradcomp
