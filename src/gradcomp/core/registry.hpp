#pragma once
// Every method of compressors/, found by CMake (cmake/Registry.cmake): adding a method is adding its file.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/core/compressor.hpp"
#include "gradcomp/core/spec_part.hpp"

namespace gradcomp {

/// What compressors/<name>.cpp defines: `Entry gradcomp::compressors::<name>()`.
struct Entry {
  Info info;
  std::function<std::unique_ptr<Compressor>(const ParameterValues&)> make;
};

/// Entry of a class constructed from (Info, ParameterValues).
template <class Method>
Entry make_entry(Info info) {
  return {info, [info](const ParameterValues& options) { return std::make_unique<Method>(info, options); }};
}

/// All entries, sorted by name, made once. Defined in the generated source of the compressors layer.
const std::vector<Entry>& all_entries();

/// The entry called `name`. If there is none, throws Error that lists all names; for a former name, the new one.
inline const Entry& find_entry(const std::string& name) {
  for (const Entry& entry : all_entries()) {
    const std::string& former = entry.info.former_name;
    require(former.empty() || former != name, "method '{}' is now called '{}'", name, entry.info.name);
  }
  return find_by_name(all_entries(), "method", name, [](const Entry& entry) { return entry.info.name; });
}

}  // namespace gradcomp
