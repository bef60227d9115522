#pragma once
// Messages between two ranks over MPI that never block their caller. A thread looks for progress, less and less often
// while nothing moves, and sleeps after nothing has been pending for a while. A caller that waits looks itself. If MPI
// does not allow calls from several threads (MPI_THREAD_MULTIPLE), only test() and wait() make progress.
//
// A message of b bytes travels in pieces of `limit` bytes, the last of which is shorter (or empty), so that receivers
// need not know b. Receives are posted at once (MPI_Irecv), so that bytes land where they belong. Only behind a receive
// whose message may have several pieces, one with the same tag waits: it could take one of these pieces. If a message
// of several pieces does not fit, its other pieces remain, and the job must end.
#include <mpi.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gradcomp/comm/detail/staging.hpp"
#include "gradcomp/comm/transport.hpp"

namespace gradcomp::comm {

class PointToPoint {
 public:
  /// A Send or Receive in progress, on host buffers. Until it has ended, the mutex of PointToPoint guards its fields.
  struct Message {
    bool is_send = false;
    const std::byte* data = nullptr;
    std::byte* target = nullptr;
    index_t capacity = 0;  ///< of a send: bytes of the message
    int peer = 0, tag = 0;
    StagingBuffer host;  ///< what `data` or `target` points to, if it is not the caller's

    std::vector<MPI_Request> pieces;  ///< of a send: all pieces; of a receive: the one that is posted
    index_t moved = 0;                ///< of a receive: bytes that have arrived
    bool ended = false;
    std::exception_ptr error;
    Clock::time_point finished;
  };
  using MessagePtr = std::shared_ptr<Message>;

  /// Duplicates `comm`. Collective. `limit`: largest piece in bytes. `limit_seconds`: how long wait() waits before it
  /// throws Error; 0: no limit.
  PointToPoint(MPI_Comm comm, index_t limit, double limit_seconds);
  /// Waits for the sends and cancels the receives. After abandon(), or if wait() exceeded the limit, waits for nothing.
  ~PointToPoint();
  PointToPoint(const PointToPoint&) = delete;
  PointToPoint& operator=(const PointToPoint&) = delete;

  /// A message that nobody holds any more, or a new one: a step allocates none.
  MessagePtr take();
  /// Starts a message of take(). `data` is the caller's and must live until the message has ended, or lies in its
  /// buffer.
  void send(const MessagePtr& message, const void* data, index_t bytes, int to, int tag);
  void receive(const MessagePtr& message, void* data, index_t capacity, int from, int tag);
  /// Whether the message has ended. Throws what went wrong with it.
  bool test(Message& message);
  /// Returns when the message has ended. Throws what went wrong with it.
  void wait(Message& message);
  /// Lowers the limit of wait().
  void limit_wait(double seconds);
  /// The job ends by an error: from now on the destructor waits for nothing.
  void abandon();
  /// Whether abandon() was called, or wait() exceeded the limit.
  bool abandoned();

 private:
  void add(const MessagePtr& message);
  void serve();
  void stop_waiting();
  bool progress();  ///< looks at all messages once; true if something moved
  bool advance_receive(Message& message);
  bool may_post(const Message& message) const;
  void post(Message& message);
  void land(Message& message, const MPI_Status& status);

  MPI_Comm m_comm = MPI_COMM_NULL;
  index_t m_limit;
  double m_limit_seconds;
  bool m_threads = false;  ///< MPI_THREAD_MULTIPLE
  std::mutex m_mutex;
  std::condition_variable m_wake;
  std::deque<MessagePtr> m_pending;
  std::vector<MessagePtr> m_all;
  int m_waiting = 0;  ///< callers inside wait()
  bool m_stop = false, m_asleep = false, m_abandoned = false;
  std::thread m_thread;
};

}  // namespace gradcomp::comm
