#pragma once
// The command line of gradcomp-train.
#include <optional>

#include "gradcomp/train/options.hpp"

/// Parses and checks, as gradcomp::parse() does (program/program.hpp).
std::optional<int> parse_command_line(int argc, char** argv, bool prints, gradcomp::train::Options& options);
