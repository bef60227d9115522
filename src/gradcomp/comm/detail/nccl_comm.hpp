#pragma once
// A communicator of NCCL with its calls in flight. It ends by ncclCommDestroy(). After an asynchronous error, or if a
// call exceeds the time limit, ncclCommAbort() ends it, and every later use throws Error.
#include <mpi.h>

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "gradcomp/comm/detail/nccl_api.hpp"
#include "gradcomp/comm/detail/watchdog.hpp"
#include "gradcomp/comm/transport.hpp"
#include "gradcomp/core/event.hpp"
#include "gradcomp/core/stream.hpp"

namespace gradcomp::comm {

/// Calls in flight: they have ended when the event `end` has.
struct Flight {
  Event end;
  double since = 0;  ///< of waiting_seconds()
  Clock::time_point finished;
  std::atomic<bool> landed = false;
  const char* what = "";
};

class NcclComm {
 public:
  /// Collective over `comm`. `limit_seconds`: how long a call may take from start to end; 0: no limit. All
  /// communicators of this process share one stream. So a device sees their calls in the order in which the program
  /// makes them, which is the same on all ranks.
  NcclComm(MPI_Comm comm, double limit_seconds);
  /// Waits for what is in flight.
  ~NcclComm();
  NcclComm(const NcclComm&) = delete;
  NcclComm& operator=(const NcclComm&) = delete;

  const Exec& exec() const { return m_stream->exec(); }  ///< of the stream
  /// NCCL's communicator. Throws Error if it was aborted.
  /// Inside group() the communicator lives until the end of the group. Elsewhere call it only to learn of an abort.
  ncclComm_t handle();

  /// f() makes calls that start together.
  template <class F>
  void group(F f) {
    enter(Group::queuing);
    const ncclResult_t started = ncclGroupStart();
    ncclResult_t ended = ncclSuccess;
    std::exception_ptr error;
    if (started == ncclSuccess) {
      try {
        f();
      } catch (...) {
        error = std::current_exception();
      }
      enter(Group::ending);
      ended = ncclGroupEnd();  // after an error too: an open group would swallow later calls of this thread
    }
    enter(Group::none);
    if (error) std::rethrow_exception(error);
    check(started, "ncclGroupStart");
    check(ended, "ncclGroupEnd");
  }
  /// Unless `code` is ncclSuccess, aborts the communicator and throws Error.
  void check(ncclResult_t code, const char* what);

  /// Marks the end of the calls so far, and keeps `flight` until it has landed. `what` names the calls in errors.
  void depart(const std::shared_ptr<Flight>& flight, const char* what);
  /// Whether the calls of the flight have ended. Never blocks. Throws Error if the communicator was aborted.
  bool landed(const Flight& flight);
  void wait(const Flight& flight);
  /// Returns when ended() returns true, for what the ranks do on the host. It has the same limit as a call, and throws
  /// Error if the communicator was aborted.
  void wait_on_host(const std::function<bool()>& ended, const char* what);
  /// Lowers the limit.
  void limit(double seconds);
  /// Aborts the communicator, because the job ends by an error.
  void abandon();
  /// Whether the communicator was not aborted.
  bool alive();
  /// In a host build, where kernels run at once: waits for the calls so far. Does nothing on a device.
  void settle(const char* what);

 private:
  /// Where a thread is that makes the calls of a group.
  enum class Group { none, queuing, ending };

  void enter(Group state);
  bool look();  ///< looks for errors and for flights that have landed; false if there is nothing more to look for
  void land();
  void die(const std::string& why);
  void abort_when_possible();
  std::string overdue(const char* what) const;
  void require_alive();

  std::shared_ptr<Stream> m_stream;
  std::mutex m_mutex;  ///< guards all that follows, except for m_watchdog
  double m_limit_seconds;
  ncclComm_t m_comm = nullptr;
  std::deque<std::shared_ptr<Flight>> m_in_flight;
  std::string m_dead;  ///< why the communicator was, or will be, aborted; empty if it was not
  Group m_group = Group::none;
  double m_group_since = 0;  ///< when m_group changed, of waiting_seconds()
  std::unique_ptr<Watchdog> m_watchdog;
};

}  // namespace gradcomp::comm
