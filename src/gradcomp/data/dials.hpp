#pragma once
// Options of generators: their defaults are those of the option struct's own members.
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/options.hpp"

namespace gradcomp::data {

inline Parameter integer_dial(const char* name, index_t value, double low, double high, const char* help) {
  return Parameter::integer(name, fmt::format("{}", value), low, high, help);
}

inline Parameter real_dial(const char* name, double value, double low, double high, const char* help) {
  return Parameter::real(name, fmt::format("{}", value), low, high, help);
}

}  // namespace gradcomp::data
