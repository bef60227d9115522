#pragma once
// The command line of gradcomp-evaluate.
#include <optional>
#include <string>

#include "gradcomp/evaluate/options.hpp"

struct CommandLine {
  gradcomp::evaluate::Options evaluate;
  std::string list;  ///< "", "text" or "json"
};

/// Parses; returns the exit status when the program ends here (--help, --version). Throws gradcomp::Error.
std::optional<int> parse_command_line(int argc, char** argv, CommandLine& line);
