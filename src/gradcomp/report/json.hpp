#pragma once
// The JSON type of all records: keys keep the order in which they were set, so that files read well and diff well.
#include <nlohmann/json.hpp>

namespace gradcomp::report {

using Json = nlohmann::ordered_json;

}  // namespace gradcomp::report
