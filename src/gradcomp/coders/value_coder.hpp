#pragma once
// A value coder writes the values of a sparse payload. Each coder is a file in coders/value_coders/, which
// begins with its bytes. CMake finds them: to add a coder, add a file (docs/extend.md). The size of a
// section is a multiple of 4 bytes.
#include <string>
#include <vector>

#include "gradcomp/coders/coder_list.hpp"
#include "gradcomp/core/types.hpp"

namespace gradcomp {
namespace coders {

/// What value_coders/<name>.cpp defines: `coders::ValueCoderEntry gradcomp::value_coders::<name>()`. Its functions are
/// called once per message.
struct ValueCoderEntry {
  std::string name;
  std::uint32_t id = 0;   ///< 0 to 15, in bits 12 to 15 of PayloadHeader::flags; never change it
  std::string summary;    ///< one line
  std::string size;       ///< bytes of a section of k values, as a formula for the docs
  bool exact = false;     ///< receivers decode the same values
  bool in_place = false;  ///< a section is the array of values itself: nothing is copied; requires `exact`

  /// Bytes of a section: a multiple of 4 that depends on `kept` alone and grows with it; 0 for no values.
  index_t (*bytes)(index_t kept) = nullptr;
  /// Writes `kept` finite values to `out` (aligned to 4 bytes), and what receivers decode for them to `decoded`, which
  /// may be `values`. With a coder in place, `out` may be `values` too.
  void (*encode)(const Exec& exec, const float* values, index_t kept, std::byte* out, float* decoded) = nullptr;
  /// Reads a section (aligned to 4 bytes) of bytes(kept) into `values`, and writes nothing else, whatever the section
  /// holds. Returns the number of errors: values that are not finite, and bytes that encode() does not write. Waits for
  /// exec. A coder in place only checks, and writes nothing.
  index_t (*decode)(const Exec& exec, const std::byte* section, index_t kept, float* values) = nullptr;

  bool is_complete() const { return bytes != nullptr && encode != nullptr && decode != nullptr; }
};

/// All value coders, in the order of their ids. Throws Error if two have the same id.
const CoderList<ValueCoderEntry>& value_coder_list();
/// The coder called `name`. If there is none, throws Error with the nearest name and a list of all.
const ValueCoderEntry& find_value_coder(const std::string& name);

/// Reads `kept` values into `values` and returns `values`; with a coder in place, returns the address in the section
/// instead. Throws Error, and leaves `values` unspecified, unless `section` (aligned to 4 bytes) has the length for
/// `kept` values and is what encode() writes for some finite values. Waits for exec.
const float* decode_values(const Exec& exec, const ValueCoderEntry& coder, const Span<const std::byte>& section,
                           index_t kept, float* values);

}  // namespace coders

/// All entries, sorted by name. Defined in the generated source of the coders layer.
const std::vector<coders::ValueCoderEntry>& all_value_coders();

}  // namespace gradcomp
