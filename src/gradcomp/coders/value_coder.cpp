#include "gradcomp/coders/value_coder.hpp"

namespace gradcomp::coders {

const CoderList<ValueCoderEntry>& value_coder_list() {
  static const CoderList<ValueCoderEntry> list(all_value_coders(), "value coder");
  return list;
}

const ValueCoderEntry& find_value_coder(const std::string& name) { return value_coder_list().named(name); }

const float* decode_values(const Exec& exec, const ValueCoderEntry& coder, const Span<const std::byte>& section,
                           index_t kept, float* values) {
  require(static_cast<index_t>(section.size()) == coder.bytes(kept),
          "value section: {} bytes, expected {} for {} entries in {}", section.size(), coder.bytes(kept), kept,
          coder.name);
  const index_t bad = coder.decode(exec, section.data(), kept, values);
  require(bad == 0, "value section: {} of {} values in {} are not finite, or have a wrong scale or padding", bad, kept,
          coder.name);
  return coder.in_place ? reinterpret_cast<const float*>(section.data()) : values;
}

}  // namespace gradcomp::coders
