#include "gradcomp/exchange/registry.hpp"

#include <algorithm>

#include "gradcomp/core/spec_part.hpp"

namespace gradcomp {

const ReducerEntry& reducer_for(const std::string& name, const Info& info) {
  const ReducerEntry& entry = find_by_name(all_reducers(), "reducer", name);
  const std::string refusal = entry.refusal(info);
  require(refusal.empty(), "reducer {}: {}", name, refusal);
  return entry;
}

std::vector<std::string> reducers_of(const Info& info) {
  std::vector<std::string> names = {info.reducer};
  for (const ReducerEntry& entry : all_reducers()) {
    if (entry.name != info.reducer && entry.refusal(info).empty()) names.push_back(entry.name);
  }
  return names;
}

std::vector<Parameter> reducer_parameters(const Info& info) {
  const auto names = reducers_of(info);
  std::vector<Parameter> list = {Parameter::choice("reducer", info.reducer, names, "how messages are exchanged")};
  for (const ReducerEntry& entry : all_reducers()) {
    if (std::find(names.begin(), names.end(), entry.name) == names.end()) continue;
    list.insert(list.end(), entry.parameters.begin(), entry.parameters.end());
  }
  return list;
}

}  // namespace gradcomp
