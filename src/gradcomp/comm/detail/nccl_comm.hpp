#pragma once
// A communicator of NCCL, what it was given and has not ended, and its end: by ncclCommDestroy, or by ncclCommAbort at
// an asynchronous error or a time limit, after which every use throws.
#include <mpi.h>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "gradcomp/comm/detail/nccl_api.hpp"
#include "gradcomp/comm/detail/watchdog.hpp"
#include "gradcomp/comm/transport.hpp"
#include "gradcomp/core/event.hpp"
#include "gradcomp/core/stream.hpp"

namespace gradcomp::comm {

/// Calls that the communicator was given: they have ended when the event has.
struct Flight {
  Event end;
  Clock::time_point since, finished;
  std::atomic<bool> landed = false;
  const char* what = "";
};

class NcclComm {
 public:
  /// Collective over `comm`. `limit_seconds`: from the start of a call to its end; 0: none. All communicators of this
  /// process share one stream, so that a device sees their calls in the order in which the program makes them, which
  /// is the same on all ranks.
  NcclComm(MPI_Comm comm, double limit_seconds);
  /// Waits for what is in flight.
  ~NcclComm();
  NcclComm(const NcclComm&) = delete;
  NcclComm& operator=(const NcclComm&) = delete;

  const Exec& exec() const { return m_stream->exec(); }  ///< of the stream
  /// Valid until the communicator is dead; throws Error then.
  ncclComm_t handle();

  /// f() makes calls that start together.
  template <class F>
  void group(F f) {
    handle();
    check(ncclGroupStart(), "ncclGroupStart");
    try {
      f();
    } catch (...) {  // groups belong to the thread, and others use them too
      (void)ncclGroupEnd();
      throw;
    }
    check(ncclGroupEnd(), "ncclGroupEnd");
  }
  /// Ends the communicator, and throws Error, unless `code` is ncclSuccess.
  void check(ncclResult_t code, const char* what);

  /// Marks the end of what was given so far. `flight` is kept until it has landed. `what`: a name for errors.
  void depart(const std::shared_ptr<Flight>& flight, const char* what);
  /// Never blocks. Throws Error when the communicator is dead.
  bool landed(const Flight& flight);
  void wait(const Flight& flight);
  /// Where launches run at once, on hosts: waits for what was given so far. Nothing on a device.
  void settle(const char* what);

 private:
  bool look();  ///< at the state of the library and at what is in flight; false: nothing is
  void land();
  void die(const std::string& why);
  void require_alive();

  std::shared_ptr<Stream> m_stream;
  double m_limit_seconds;
  ncclComm_t m_comm = nullptr;
  std::mutex m_mutex;  ///< guards the next two, and m_comm
  std::deque<std::shared_ptr<Flight>> m_in_flight;
  std::string m_dead;  ///< why
  std::unique_ptr<Watchdog> m_watchdog;
};

}  // namespace gradcomp::comm
