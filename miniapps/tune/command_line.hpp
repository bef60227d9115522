#pragma once
// The command line of gradcomp-tune.
#include <optional>

#include "gradcomp/tune/options.hpp"

/// Parses and checks, as gradcomp::parse() does (program/program.hpp).
std::optional<int> parse_command_line(int argc, char** argv, bool prints, gradcomp::tune::Options& options);
