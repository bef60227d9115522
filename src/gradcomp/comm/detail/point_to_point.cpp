#include "gradcomp/comm/detail/point_to_point.hpp"

#include <algorithm>
#include <utility>

#include "gradcomp/comm/mpi_session.hpp"
#include "gradcomp/core/thread_device.hpp"

namespace gradcomp::comm {
namespace {

constexpr std::chrono::microseconds shortest_pause(20), longest_pause(500);
constexpr int idle_pauses = 50;   ///< pauses of an idle thread before it sleeps: waking it costs more than a look
constexpr int busy_looks = 2000;  ///< looks of a waiting caller before it pauses between looks

}  // namespace

PointToPoint::PointToPoint(MPI_Comm comm, index_t limit, double limit_seconds)
    : m_limit(limit), m_limit_seconds(limit_seconds) {
  check_mpi(MPI_Comm_dup(comm, &m_comm), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(m_comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_size(m_comm, &m_ranks), "MPI_Comm_size");
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  m_threads = level == MPI_THREAD_MULTIPLE;
}

PointToPoint::~PointToPoint() {
  {
    const std::lock_guard lock(m_mutex);
    m_stop = true;
  }
  m_wake.notify_all();
  if (m_thread.joinable()) m_thread.join();
  if (m_abandoned) {  // a message may never end, and MPI uses its buffers until it does
    new std::deque<MessagePtr>(std::move(m_pending));
    return;
  }
  for (const auto& message : m_pending) {
    auto& pieces = message->pieces;
    if (!message->error && !pieces.empty()) {
      MPI_Waitall(static_cast<int>(pieces.size()), pieces.data(), MPI_STATUSES_IGNORE);
    }
  }
  MPI_Comm_free(&m_comm);
}

PointToPoint::MessagePtr PointToPoint::send(const void* data, index_t bytes, int to, int tag,
                                            std::vector<std::byte> host) {
  auto message = std::make_shared<Message>();
  message->is_send = true;
  message->data = static_cast<const std::byte*>(data);
  message->capacity = bytes;
  message->peer = to;
  message->tag = tag;
  message->host = std::move(host);  // moves no bytes, so that `data` stays valid
  message->pieces.resize(static_cast<std::size_t>(bytes / m_limit + 1));
  for (std::size_t i = 0; i < message->pieces.size(); ++i) {
    const index_t first = static_cast<index_t>(i) * m_limit;
    check_mpi(MPI_Isend(message->data + first, static_cast<int>(std::min(m_limit, bytes - first)), MPI_BYTE, to, tag,
                        m_comm, &message->pieces[i]),
              "MPI_Isend");
  }
  return add(std::move(message));
}

PointToPoint::MessagePtr PointToPoint::receive(void* data, index_t capacity, int from, int tag,
                                               std::vector<std::byte> host) {
  auto message = std::make_shared<Message>();
  message->target = static_cast<std::byte*>(data);
  message->capacity = capacity;
  message->peer = from;
  message->tag = tag;
  message->host = std::move(host);
  return add(std::move(message));
}

PointToPoint::MessagePtr PointToPoint::add(MessagePtr message) {
  {
    const std::lock_guard lock(m_mutex);
    m_pending.push_back(message);
    progress();  // often the message ends at once
    if (m_threads && !m_thread.joinable() && !m_pending.empty()) m_thread = std::thread([this] { serve(); });
    if (!std::exchange(m_asleep, false)) return message;
  }
  m_wake.notify_one();
  return message;
}

void PointToPoint::serve() {
  use_device_of_process();
  std::unique_lock lock(m_mutex);
  auto pause = shortest_pause;
  int idle = 0;
  while (!m_stop) {
    if (m_pending.empty() || m_waiting > 0) {
      m_asleep = ++idle > idle_pauses;
      if (m_asleep) {
        m_wake.wait(lock, [&] { return m_stop || !m_asleep; });
      } else {
        m_wake.wait_for(lock, longest_pause);
      }
      pause = shortest_pause;
    } else if (progress()) {
      idle = 0;
      pause = shortest_pause;
    } else {
      m_wake.wait_for(lock, pause);
      pause = std::min(2 * pause, longest_pause);
    }
  }
}

bool PointToPoint::test(Message& message) {
  const std::lock_guard lock(m_mutex);
  if (!message.ended) progress();  // the thread looks less and less often
  if (message.ended && message.error) std::rethrow_exception(message.error);
  return message.ended;
}

void PointToPoint::wait(Message& message) {
  const auto begin = Clock::now();
  std::unique_lock lock(m_mutex);
  ++m_waiting;
  for (int look = 0; !message.ended; ++look) {
    progress();
    if (message.ended) break;
    if (m_limit_seconds > 0 && std::chrono::duration<double>(Clock::now() - begin).count() > m_limit_seconds) {
      stop_waiting();
      m_abandoned = true;
      throw Error(fmt::format("mpi: a message {} rank {} with tag {} did not end within {} s; a peer is gone or hangs",
                              message.is_send ? "to" : "from", message.peer, message.tag, m_limit_seconds));
    }
    lock.unlock();
    if (look < busy_looks) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(shortest_pause);
    }
    lock.lock();
  }
  stop_waiting();
  if (message.error) std::rethrow_exception(message.error);
}

/// The thread may have fallen asleep because a caller looked itself. It must move the messages that are left.
void PointToPoint::stop_waiting() {
  if (--m_waiting > 0 || m_pending.empty()) return;
  if (std::exchange(m_asleep, false)) m_wake.notify_one();
}

void PointToPoint::limit_wait(double seconds) {
  const std::lock_guard lock(m_mutex);
  m_limit_seconds = smaller_limit(m_limit_seconds, seconds);
}

void PointToPoint::abandon() {
  const std::lock_guard lock(m_mutex);
  m_abandoned = true;
}

bool PointToPoint::abandoned() {
  const std::lock_guard lock(m_mutex);
  return m_abandoned;
}

bool PointToPoint::progress() {
  bool moved = false;
  for (std::size_t i = 0; i < m_pending.size();) {
    Message& message = *m_pending[i];
    try {
      if (message.is_send) {
        int all = 0;
        check_mpi(
            MPI_Testall(static_cast<int>(message.pieces.size()), message.pieces.data(), &all, MPI_STATUSES_IGNORE),
            "MPI_Testall");
        message.ended = all != 0;
      } else {
        moved = advance_receive(message) || moved;
      }
    } catch (...) {
      message.error = std::current_exception();
      message.ended = true;
    }
    if (!message.ended) {
      ++i;
      continue;
    }
    moved = true;
    message.finished = Clock::now();
    m_pending.erase(m_pending.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return moved;
}

bool PointToPoint::advance_receive(Message& message) {
  bool moved = false;
  while (!message.ended) {
    if (message.pieces.empty() && !match(message)) break;
    int arrived = 0;
    check_mpi(MPI_Test(&message.pieces[0], &arrived, MPI_STATUS_IGNORE), "MPI_Test");
    if (arrived == 0) break;
    land(message);
    moved = true;
  }
  return moved;
}

/// Begins to receive the next piece, if one is there.
bool PointToPoint::match(Message& message) {
  MPI_Message handle = MPI_MESSAGE_NULL;
  MPI_Status status;
  bool found = false;
  if (!is_behind(message, message.peer)) {
    found = probe(message, message.peer, handle, status);
  } else if (message.peer == any_rank) {  // older receives claim some of the ranks
    for (int r = 0; r < m_ranks && !found; ++r) found = !is_behind(message, r) && probe(message, r, handle, status);
  }
  if (!found) return false;
  int bytes = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  message.peer = status.MPI_SOURCE;  // the other pieces come from the same rank
  message.arriving = bytes;
  const bool fits = message.moved + bytes <= message.capacity;
  if (!fits) message.refused.resize(static_cast<std::size_t>(bytes));
  message.pieces.resize(1);
  check_mpi(MPI_Imrecv(fits ? message.target + message.moved : message.refused.data(), bytes, MPI_BYTE, &handle,
                       message.pieces.data()),
            "MPI_Imrecv");
  return true;
}

/// Whether a piece from `source` is there for the receive. If so, `handle` gets it.
bool PointToPoint::probe(const Message& message, int source, MPI_Message& handle, MPI_Status& status) const {
  int found = 0;
  check_mpi(MPI_Improbe(source == any_rank ? MPI_ANY_SOURCE : source, message.tag, m_comm, &found, &handle, &status),
            "MPI_Improbe");
  return found != 0;
}

/// Takes note of a piece that has arrived.
void PointToPoint::land(Message& message) {
  message.pieces.clear();
  message.moved += message.arriving;
  message.ended = message.arriving < m_limit;
  if (message.ended && message.moved > message.capacity) {
    message.error = std::make_exception_ptr(Error(fmt::format("receive from rank {}: {} bytes do not fit {} bytes",
                                                              message.peer, message.moved, message.capacity)));
  }
}

/// Whether an older receive may match the same pieces from `source`.
bool PointToPoint::is_behind(const Message& message, int source) const {
  for (const auto& other : m_pending) {
    if (other.get() == &message) return false;
    const bool same_peer = other->peer == source || other->peer == any_rank || source == any_rank;
    if (!other->is_send && other->tag == message.tag && same_peer) return true;
  }
  return false;
}

}  // namespace gradcomp::comm
