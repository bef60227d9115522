#pragma once
// Errors for options that had another name, or belonged to another program, in earlier versions. Help does not show
// them.
#include <CLI/CLI.hpp>
#include <string>

/// If the option `former` is given, the error is this name and `what`.
inline void former_option(CLI::App& app, const std::string& former, const std::string& what) {
  const auto answer = [=](const std::string&) { throw CLI::ValidationError(former + what); };
  app.add_option_function<std::string>(former, answer)->expected(0, 1)->group("");
}

inline void renamed_option(CLI::App& app, const std::string& former, const std::string& name) {
  former_option(app, former, " is now called " + name);
}

/// Another `program` does the work of this option now.
inline void moved_option(CLI::App& app, const std::string& former, const std::string& program) {
  former_option(app, former, " is no option here: run " + program);
}
