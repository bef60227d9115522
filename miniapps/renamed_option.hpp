#pragma once
// Errors for options that had another name in earlier versions.
#include <CLI/CLI.hpp>
#include <string>

/// If the option `former`, which help does not show, is given, the error says its new `name`.
inline void renamed_option(CLI::App& app, const std::string& former, const std::string& name) {
  const auto answer = [=](const std::string&) { throw CLI::ValidationError(former + " is now called " + name); };
  app.add_option_function<std::string>(former, answer)->group("");
}
