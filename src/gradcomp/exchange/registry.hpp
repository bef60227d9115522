#pragma once
// All reducers of exchange/reducers/, which CMake finds (cmake/Registry.cmake). To add one, add its file
// (docs/extend.md).
#include <string>
#include <vector>

#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp {

/// All entries, sorted by name. The generated source of the exchange layer defines it.
const std::vector<ReducerEntry>& all_reducers();

/// The entry with this name. If the name is unknown, or the reducer cannot carry this method's messages, throws an
/// Error that says why.
const ReducerEntry& reducer_for(const std::string& name, const Info& info);

/// Names of the reducers that can carry this method's messages; the method's default comes first.
std::vector<std::string> reducers_of(const Info& info);

/// The parameters `reducer` and `reducer.<key>`, with the reducers that can carry this method's messages.
std::vector<Parameter> reducer_parameters(const Info& info);

}  // namespace gradcomp
