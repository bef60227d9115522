#pragma once
// The frame of a program without MPI; those with it have run_mpi_program() (comm/mpi_session.hpp).
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <functional>

namespace gradcomp {

/// Returns the exit status of `body`; if it throws, prints one line on standard error and returns 1.
inline int run_program(const char* program, const std::function<int()>& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: error: {}\n", program, error.what());
    return 1;
  }
}

}  // namespace gradcomp
