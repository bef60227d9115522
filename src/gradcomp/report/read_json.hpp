#pragma once
// The one door through which programs read JSON that users give: nothing deeper than a record, and no number that
// becomes another one.
#include <string>
#include <string_view>

#include "gradcomp/core/types.hpp"
#include "gradcomp/report/json.hpp"

namespace gradcomp::report {

/// The value of a JSON text. Throws Error in one line that begins with `where`, also for more than 100 levels.
Json parse_json(std::string_view text, const std::string& where);

/// The number at `value`. Throws Error, which begins with `what`, unless it is a whole number from least to most.
index_t whole_number(const Json& value, const std::string& what, index_t least, index_t most);

/// The same for a number that may have a fraction.
double real_number(const Json& value, const std::string& what, double least, double most);

}  // namespace gradcomp::report
