#include "gradcomp/report/read_json.hpp"

#include <limits>

#include "gradcomp/core/error.hpp"

namespace gradcomp::report {
namespace {

constexpr int most_levels = 100;
constexpr std::size_t most_shown = 60;

std::string shown(const Json& value) {
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= most_shown ? text : text.substr(0, most_shown) + "...";
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where) {
  try {
    return Json::parse(text, [&](int depth, Json::parse_event_t, Json&) {
      require(depth <= most_levels, "{}: more than {} levels of JSON", where, most_levels);
      return true;
    });
  } catch (const Json::exception& error) {
    throw Error(fmt::format("{}: {}", where, error.what()));
  }
}

index_t whole_number(const Json& value, const std::string& what, index_t least, index_t most) {
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<index_t>::max());
  const bool whole = value.is_number_unsigned() ? value.get<std::uint64_t>() <= largest : value.is_number_integer();
  require(whole && value.get<index_t>() >= least && value.get<index_t>() <= most,
          "{}: {} is not allowed; allowed: whole numbers from {} to {}", what, shown(value), least, most);
  return value.get<index_t>();
}

double real_number(const Json& value, const std::string& what, double least, double most) {
  require(value.is_number() && value.get<double>() >= least && value.get<double>() <= most,
          "{}: {} is not allowed; allowed: numbers from {} to {}", what, shown(value), least, most);
  return value.get<double>();
}

}  // namespace gradcomp::report
