#pragma once
// The command line of gradcomp-evaluate.
#include <optional>
#include <string>

#include "gradcomp/evaluate/options.hpp"

struct CommandLine {
  gradcomp::evaluate::Options evaluate;
  std::string list;  ///< "", "text" or "json"
};

/// Parses and checks, as gradcomp::parse() does (program/program.hpp).
std::optional<int> parse_command_line(int argc, char** argv, bool prints, CommandLine& line);
