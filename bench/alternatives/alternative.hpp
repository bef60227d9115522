#pragma once
// The frame of the programs that time alternatives to our kernels.
#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <functional>
#include <string>

#include "gradcomp/core/atomic_file.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/program/arguments.hpp"
#include "gradcomp/program/huge_pages.hpp"
#include "gradcomp/program/program.hpp"
#include "gradcomp/report/json.hpp"

namespace gradcomp::bench {

/// Parses the command line with `app`, starts Kokkos, and writes the result of `measure` to the file `output`, unless
/// that name is empty. Returns the exit status. An error is printed as one line with the name of `app`.
inline int run_alternative(CLI::App& app, int argc, char** argv, const std::string& output,
                           const std::function<report::Json()>& measure) {
  return run_program(app.get_name().c_str(), [&] {
    Arguments arguments(argc, argv);
    if (const auto status = gradcomp::parse(app, arguments.own_argc, arguments.own_argv())) return *status;
    check_writable(output);
    const Kokkos::ScopeGuard kokkos(arguments.kokkos_argc, arguments.kokkos_argv());
    ask_for_huge_pages();
    const report::Json document = measure();
    if (!output.empty()) write_atomically(output, document.dump(1) + "\n");
    return 0;
  });
}

}  // namespace gradcomp::bench
