#pragma once
// Every reducer of exchange/reducers/, found by CMake (cmake/Registry.cmake): adding one is adding its file pair
// (docs/adding-a-reducer.md).
#include <string>
#include <vector>

#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp {

/// All entries, sorted by name. Defined in the generated source of the exchange layer.
const std::vector<ReducerEntry>& all_reducers();

/// The entry called `name`; throws Error that says why when it cannot carry this method's messages.
const ReducerEntry& reducer_for(const std::string& name, const Info& info);

/// Names of the reducers that can carry this method's messages, its default first.
std::vector<std::string> reducers_of(const Info& info);

/// Options of the reducers, shared by all methods: those that can carry it, and their sub-options.
std::vector<Parameter> reducer_parameters(const Info& info);

}  // namespace gradcomp
