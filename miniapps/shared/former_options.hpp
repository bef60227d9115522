#pragma once
// Errors for options that had another name, or belonged to another program, in earlier versions. Help does not show
// them.
#include <CLI/CLI.hpp>
#include <string>

/// If the option `former` is given, the error says its new `name`.
inline void renamed_option(CLI::App& app, const std::string& former, const std::string& name) {
  const auto answer = [=](const std::string&) { throw CLI::ValidationError(former + " is now called " + name); };
  app.add_option_function<std::string>(former, answer)->expected(0, 1)->group("");
}

/// The same for an option whose work another `program` does now.
inline void moved_option(CLI::App& app, const std::string& former, const std::string& program) {
  const auto answer = [=](const std::string&) {
    throw CLI::ValidationError(former + " is no option here: run " + program);
  };
  app.add_option_function<std::string>(former, answer)->expected(0, 1)->group("");
}
