#include "gradcomp/comm/mpi_session.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "gradcomp/core/standard_output.hpp"

namespace gradcomp {

void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);  // if this fails, the text stays empty
  throw Error(fmt::format("{}: {}", what, std::string(text, static_cast<std::size_t>(length))));
}

MpiSession::MpiSession(int& argc, char**& argv) {
  int provided = 0;
  check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &m_rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &m_size), "MPI_Comm_size");
}

MpiSession::~MpiSession() { MPI_Finalize(); }

std::string MpiSession::library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  check_mpi(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
  const std::string version(text, static_cast<std::size_t>(length));
  return version.substr(0, version.find_first_of(",\n"));
}

namespace {

/// Open MPI makes each process a job of its own if its launcher died while they started. Such jobs would all write the
/// files of the one that was asked for.
void require_all_ranks(int size) {
  const char* started = std::getenv("OMPI_COMM_WORLD_SIZE");
  require(started == nullptr || started == std::to_string(size),
          "the launcher started {} ranks, but MPI knows {}: the launcher has ended, or is of another MPI",
          started == nullptr ? "" : started, size);
}

}  // namespace

int run_mpi_program(const char* program, int argc, char** argv, const std::function<int(const MpiSession&)>& body) {
  let_writes_fail();
  const MpiSession session(argc, argv);
  try {
    require_all_ranks(session.size());
    const int status = body(session);
    finish_standard_output();
    return status;
  } catch (const AgreedError& error) {
    if (session.rank() == 0) print_error(program, error.what());
    return 1;
  } catch (const std::exception& error) {
    if (session.size() == 1) {
      print_error(program, error.what());
      return 1;
    }
    print_error(program, fmt::format("on rank {}: {}", session.rank(), error.what()));
  } catch (...) {
    print_error(program, fmt::format("on rank {}: an exception of unknown type", session.rank()));
  }
  std::fflush(stdout);
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  return 1;
}

}  // namespace gradcomp
