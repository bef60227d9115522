#pragma once
// Messages between two ranks over MPI that never block their caller. A thread looks for progress, less and less often
// while nothing moves, and sleeps after nothing has been pending for a while. A caller that waits looks itself. If MPI
// does not allow calls from several threads (MPI_THREAD_MULTIPLE), only test() and wait() make progress.
//
// A message of b bytes travels in pieces of `limit` bytes, the last of which is shorter (or empty), so that receivers
// need not know b. They match each piece by a probe (MPI_Improbe), so that no message is split between two receives.
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
  /// A Send or Receive in progress, on host buffers. Until it has ended, the mutex of PointToPoint guards its fields.
  struct Message {
    bool is_send = false;
    const std::byte* data = nullptr;
    std::byte* target = nullptr;
    index_t capacity = 0;  ///< of a send: bytes of the message
    int peer = 0, tag = 0;
    std::vector<std::byte> host;  ///< what `data` or `target` points to, if it is not the caller's

    std::vector<MPI_Request> pieces;  ///< of a send: all pieces; of a receive: the one that is arriving
    index_t moved = 0, arriving = 0;  ///< of a receive: bytes that have arrived, and of the piece that is arriving
    std::vector<std::byte> refused;   ///< receives a piece that does not fit
    bool ended = false;
    std::exception_ptr error;
    Clock::time_point finished;
  };
  using MessagePtr = std::shared_ptr<Message>;

  /// Duplicates `comm`. Collective. `limit`: largest piece in bytes. `limit_seconds`: how long wait() waits before it
  /// throws Error; 0: no limit.
  PointToPoint(MPI_Comm comm, index_t limit, double limit_seconds);
  /// Waits for the sends, and for pieces of receives that are arriving; drops all other receives. After abandon(), or
  /// if wait() exceeded the limit, waits for nothing.
  ~PointToPoint();
  PointToPoint(const PointToPoint&) = delete;
  PointToPoint& operator=(const PointToPoint&) = delete;

  /// `data` must live until the message has ended. If it points into `host`, the message keeps it.
  MessagePtr send(const void* data, index_t bytes, int to, int tag, std::vector<std::byte> host = {});
  MessagePtr receive(void* data, index_t capacity, int from, int tag, std::vector<std::byte> host = {});
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
  MessagePtr add(MessagePtr message);
  void serve();
  void stop_waiting();
  bool progress();  ///< looks at all messages once; true if something moved
  bool advance_receive(Message& message);
  bool match(Message& message);
  void land(Message& message);
  bool probe(const Message& message, int source, MPI_Message& handle, MPI_Status& status) const;
  bool is_behind(const Message& message, int source) const;

  MPI_Comm m_comm = MPI_COMM_NULL;
  int m_ranks = 1;
  index_t m_limit;
  double m_limit_seconds;
  bool m_threads = false;  ///< MPI_THREAD_MULTIPLE
  std::mutex m_mutex;
  std::condition_variable m_wake;
  std::deque<MessagePtr> m_pending;
  int m_waiting = 0;  ///< callers inside wait()
  bool m_stop = false, m_asleep = false, m_abandoned = false;
  std::thread m_thread;
};

}  // namespace gradcomp::comm
