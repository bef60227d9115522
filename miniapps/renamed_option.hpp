#pragma once
// Options of earlier versions.
#include <CLI/CLI.hpp>
#include <string>

/// The option `former`, which help does not show, is answered with its new `name`.
inline void renamed_option(CLI::App& app, const std::string& former, const std::string& name) {
  const auto answer = [=](const std::string&) { throw CLI::ValidationError(former + " is now called " + name); };
  app.add_option_function<std::string>(former, answer)->group("");
}
