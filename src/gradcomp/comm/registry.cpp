#include "gradcomp/comm/registry.hpp"

#include <algorithm>
#include <iterator>

#include "gradcomp/core/spec_part.hpp"

namespace gradcomp {

std::vector<TransportEntry> program_transports() {
  std::vector<TransportEntry> list;
  std::copy_if(all_transports().begin(), all_transports().end(), std::back_inserter(list),
               [](const TransportEntry& entry) { return entry.for_programs; });
  return list;
}

std::unique_ptr<Transport> make_transport(const std::string& spec, const std::any& owned) {
  const std::string owner = "transport '" + spec + "'";
  const SpecPart part = parse_spec_part(owner, spec);
  const TransportEntry& entry = find_by_name(all_transports(), "transport", part.name);
  return entry.make(owned, ParameterValues(owner, entry.parameters, part.options));
}

}  // namespace gradcomp
