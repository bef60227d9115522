#pragma once
// The command line of gradcomp-evaluate.
#include <optional>

#include "gradcomp/evaluate/options.hpp"

/// Parses and checks, as gradcomp::parse() does (program/program.hpp).
std::optional<int> parse_command_line(int argc, char** argv, bool prints, gradcomp::evaluate::Options& options);
