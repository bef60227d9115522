#pragma once
// The frame of every program: its command line, the life of Kokkos, errors and exit statuses.
#include <functional>
#include <optional>
#include <string>

#include "gradcomp/comm/mpi_session.hpp"

namespace CLI {
class App;
}

namespace gradcomp {

/// The words of `text` in lines of at most `columns`, a longer word in a line of its own.
std::string wrapped(const std::string& text, std::size_t columns);

/// What every program begins its command line with, before it adds options: --version, --config, a footer, and defaults
/// that help shows. `app` has the program's name.
void begin_options(CLI::App& app);

/// Parses the command line with `app`. For --help and --version it prints the text if `prints` is true, and returns the
/// exit status; otherwise it returns nothing, and the program goes on. Throws Error if an argument is not allowed.
std::optional<int> parse(CLI::App& app, int argc, char** argv, bool prints = true);

/// A program's own parser of the arguments that are not for Kokkos; it behaves as parse() does.
using ParseArguments = std::function<std::optional<int>(int argc, char** argv, bool prints)>;

/// Returns the exit status of `body`; if it throws, prints one line on standard error and returns 1.
int run_program(const char* program, const std::function<int()>& body);

/// The same for a program that runs on one rank: starts Kokkos, then calls `parse`, then `body`.
int run_program(const char* program, int argc, char** argv, const ParseArguments& parse,
                const std::function<int()>& body);

/// The same for an MPI program (run_mpi_program() in comm/mpi_session.hpp). All ranks see the same command line, but a
/// file that it names may be missing on some. If a rank refuses it, rank 0 prints one line, and all ranks return 2.
int run_program_on_ranks(const char* program, int argc, char** argv, const ParseArguments& parse,
                         const std::function<int(const MpiSession&)>& body);

}  // namespace gradcomp
