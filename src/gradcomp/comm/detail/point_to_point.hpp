#pragma once
// Messages between two ranks over MPI that never block their caller: a thread looks for progress, less and less often
// while nothing moves, and sleeps once nothing has been pending for a while. A caller that waits does so itself. Where
// MPI takes calls from one thread at a time, test() and wait() are what makes progress.
//
// A message of b bytes travels in pieces of `limit` bytes, the last of which is shorter (or empty): receivers need not
// know b. They match each piece by a probe (MPI_Improbe), so that none is split between two receives.
#include <mpi.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gradcomp/comm/transport.hpp"

namespace gradcomp::comm {

class PointToPoint {
 public:
  /// A Send or Receive under way, on host buffers. Fields are guarded by the engine until it has ended.
  struct Message {
    bool is_send = false;
    const std::byte* data = nullptr;
    std::byte* target = nullptr;
    index_t capacity = 0;  ///< of a send: its bytes
    int peer = 0, tag = 0;

    std::vector<MPI_Request> pieces;  ///< of a send all, of a receive the one that is arriving
    index_t moved = 0, arriving = 0;
    std::vector<std::byte> refused;  ///< where a piece goes that does not fit
    bool ended = false;
    std::exception_ptr error;
    Clock::time_point finished;
  };
  using MessagePtr = std::shared_ptr<Message>;

  /// On a duplicate of `comm`. Collective. `limit_seconds`: of wait(); 0: none.
  PointToPoint(MPI_Comm comm, index_t limit, double limit_seconds);
  /// Finishes the sends; receives that nobody waits for are forgotten.
  ~PointToPoint();
  PointToPoint(const PointToPoint&) = delete;
  PointToPoint& operator=(const PointToPoint&) = delete;

  MessagePtr send(const void* data, index_t bytes, int to, int tag);
  MessagePtr receive(void* data, index_t capacity, int from, int tag);
  /// True when it has ended; throws what it met.
  bool test(Message& message);
  void wait(Message& message);

 private:
  MessagePtr add(MessagePtr message);
  void serve();
  bool progress();  ///< looks at all messages once; true when something moved
  bool advance_receive(Message& message);
  bool match(Message& message);
  void land(Message& message);
  bool is_behind(const Message& message) const;

  MPI_Comm m_comm = MPI_COMM_NULL;
  index_t m_limit;
  double m_limit_seconds;
  bool m_threads = false;  ///< MPI_THREAD_MULTIPLE
  std::mutex m_mutex;
  std::condition_variable m_wake;
  std::deque<MessagePtr> m_pending;
  int m_waiting = 0;  ///< callers inside wait()
  bool m_stop = false, m_asleep = false;
  std::thread m_thread;
};

}  // namespace gradcomp::comm
