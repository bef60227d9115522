#pragma once
// The command line of gradcomp-train.
#include <string>

#include "gradcomp/train/options.hpp"

struct CommandLine {
  gradcomp::train::Options train;
  bool describe = false;
  std::string list;  ///< "", "text", "markdown", "strategies" or "transports"
};

/// Parses and checks. Sets `exit_status` to -1 to go on, or to the status to end with (--help, --version: 0; an error:
/// 2). Prints on rank 0 only; all ranks see the same arguments and come to the same end.
CommandLine parse_command_line(int argc, char** argv, int rank, int& exit_status);
