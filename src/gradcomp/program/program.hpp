#pragma once
// The frame of every program: the command line, Kokkos from its beginning to its end, errors and exit statuses.
#include <functional>
#include <optional>

#include "gradcomp/comm/mpi_session.hpp"

namespace CLI {
class App;
}

namespace gradcomp {

/// Parses by `app`. Returns the exit status where the program ends here (--help, --version), whose text appears where
/// `prints`. Throws Error for what is not allowed.
std::optional<int> parse(CLI::App& app, int argc, char** argv, bool prints = true);

/// How a program reads the arguments that are not Kokkos', as parse() does.
using ParseArguments = std::function<std::optional<int>(int argc, char** argv, bool prints)>;

/// The exit status of `body`; 1, and one line on standard error, where it throws.
int run_program(const char* program, const std::function<int()>& body);

/// The same for a program on one rank with nothing but its command line before Kokkos begins: `parse`, then `body`.
int run_program(const char* program, int argc, char** argv, const ParseArguments& parse,
                const std::function<int()>& body);

/// The same for an MPI program (run_mpi_program() in comm/mpi_session.hpp). A command line that is not allowed ends all
/// ranks, which see the same one, with 2 and a line from rank 0.
int run_program_on_ranks(const char* program, int argc, char** argv, const ParseArguments& parse,
                         const std::function<int(const MpiSession&)>& body);

}  // namespace gradcomp
