#pragma once
// The command line of gradcomp-train.
#include <optional>
#include <string>

#include "gradcomp/train/options.hpp"

struct CommandLine {
  gradcomp::train::Options train;
  bool describe = false;
  std::string list;  ///< "", "text", "markdown", "strategies" or "transports"
};

/// Parses and checks, as gradcomp::parse() does (program/program.hpp).
std::optional<int> parse_command_line(int argc, char** argv, bool prints, CommandLine& line);
