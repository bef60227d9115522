#include "gradcomp/data/registry.hpp"

#include <fmt/ranges.h>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/nearest.hpp"

namespace gradcomp::data {

std::string dataset_specs(DatasetForm form) {
  std::vector<std::string> usages;
  for (const DatasetEntry& entry : all_datasets()) {
    if (form(entry)) usages.push_back(entry.usage);
  }
  return fmt::format("{}", fmt::join(usages, ", "));
}

const DatasetEntry& find_dataset(const std::string& text, const char* what, DatasetForm form) {
  const std::string kind = split_spec(text).kind;
  std::vector<std::string> kinds;
  for (const DatasetEntry& entry : all_datasets()) {
    if (!form(entry)) continue;
    if (entry.name == kind) return entry;
    kinds.push_back(entry.name);
  }
  throw Error(
      fmt::format("unknown {} '{}'; {}allowed: {}", what, text, did_you_mean(kind, kinds), dataset_specs(form)));
}

const DatasetEntry& check_dataset(const std::string& text, const char* what, DatasetForm form) {
  using Place = DatasetEntry::Place;
  const DatasetEntry& entry = find_dataset(text, what, form);
  const Spec spec = split_spec(text);
  if (entry.place == Place::nothing) {
    require(spec.path.empty(), "data '{}' takes no file, only key=value; allowed: {}", text, dataset_specs(form));
  } else if (entry.place != Place::unchecked) {
    require(!spec.path.empty(), "data '{}' names no {}; allowed: {}", text,
            entry.place == Place::file ? "file" : "folder", dataset_specs(form));
  }
  require(entry.options || spec.options.empty(), "data '{}' has options, and {} takes none; allowed: {}", text,
          entry.name, dataset_specs(form));
  return entry;
}

}  // namespace gradcomp::data
