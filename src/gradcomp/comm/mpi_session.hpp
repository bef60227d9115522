#pragma once
// Starts and ends MPI in a program, and checks the return codes of its functions.
#include <functional>
#include <string>

#include "gradcomp/core/error.hpp"

namespace gradcomp {

/// Throws Error "<what>: <text of MPI>" unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* what);

/// An Error that every rank throws at the same point with the same text. The job then ends without MPI_Abort(): rank 0
/// prints the line, and all ranks return a non-zero status.
class AgreedError : public Error {
 public:
  using Error::Error;
};

/// MPI is initialised from here to the end of the scope: MPI_Init_thread(MPI_THREAD_MULTIPLE), and MPI_ERRORS_RETURN on
/// MPI_COMM_WORLD.
class MpiSession {
 public:
  MpiSession(int& argc, char**& argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return m_rank; }
  int size() const { return m_size; }
  static std::string library_version();  ///< first line of MPI_Get_library_version

 private:
  int m_rank = 0, m_size = 1;
};

/// The main() of an MPI program: runs `body` inside an MpiSession and returns its exit status. If a rank throws, it
/// prints one line and ends the job with a non-zero status on all ranks (by MPI_Abort(), unless all ranks threw an
/// AgreedError), so that no rank waits for a peer that is gone.
int run_mpi_program(const char* program, int argc, char** argv, const std::function<int(const MpiSession&)>& body);

}  // namespace gradcomp
