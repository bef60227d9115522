#include "gradcomp/comm/detail/point_to_point.hpp"

#include <algorithm>
#include <utility>

#include "gradcomp/comm/mpi_session.hpp"
#include "gradcomp/core/thread_device.hpp"
#include "gradcomp/core/waiting_clock.hpp"

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
    new std::vector<MessagePtr>(std::move(m_all));
    return;
  }
  for (const auto& message : m_pending) {
    auto& pieces = message->pieces;
    if (!message->is_send && !pieces.empty()) MPI_Cancel(pieces.data());
    MPI_Waitall(static_cast<int>(pieces.size()), pieces.data(), MPI_STATUSES_IGNORE);
  }
  MPI_Comm_free(&m_comm);
}

PointToPoint::MessagePtr PointToPoint::take() {
  const std::lock_guard lock(m_mutex);
  for (const auto& held : m_all) {
    if (!unshared(held)) continue;
    held->pieces.clear();
    held->moved = 0;
    held->ended = false;
    held->error = nullptr;
    return held;
  }
  return m_all.emplace_back(std::make_shared<Message>());
}

void PointToPoint::send(const MessagePtr& message, const void* data, index_t bytes, int to, int tag) {
  message->is_send = true;
  message->data = static_cast<const std::byte*>(data);
  message->capacity = bytes;
  message->peer = to;
  message->tag = tag;
  message->pieces.resize(static_cast<std::size_t>(bytes / m_limit + 1));
  for (std::size_t i = 0; i < message->pieces.size(); ++i) {
    const index_t first = static_cast<index_t>(i) * m_limit;
    check_mpi(MPI_Isend(message->data + first, static_cast<int>(std::min(m_limit, bytes - first)), MPI_BYTE, to, tag,
                        m_comm, &message->pieces[i]),
              "MPI_Isend");
  }
  add(message);
}

void PointToPoint::receive(const MessagePtr& message, void* data, index_t capacity, int from, int tag) {
  message->is_send = false;
  message->target = static_cast<std::byte*>(data);
  message->capacity = capacity;
  message->peer = from;
  message->tag = tag;
  add(message);
}

void PointToPoint::add(const MessagePtr& message) {
  {
    const std::lock_guard lock(m_mutex);
    m_pending.push_back(message);
    progress();  // often the message ends at once
    if (m_threads && !m_thread.joinable() && !m_pending.empty()) m_thread = std::thread([this] { serve(); });
    if (!std::exchange(m_asleep, false)) return;
  }
  m_wake.notify_one();
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
  const double begin = waiting_seconds();
  std::unique_lock lock(m_mutex);
  ++m_waiting;
  for (int look = 0; !message.ended; ++look) {
    progress();
    if (message.ended) break;
    if (m_limit_seconds > 0 && waiting_seconds() - begin > m_limit_seconds) {
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
    if (message.pieces.empty()) {
      if (!may_post(message)) break;
      post(message);
    }
    int arrived = 0;
    MPI_Status status;
    const int code = MPI_Test(message.pieces.data(), &arrived, &status);
    int kind = code;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &kind);
    if (kind == MPI_ERR_TRUNCATE) {
      throw Error(fmt::format("receive from {}: a message with tag {} does not fit {} bytes",
                              message.peer == any_rank ? "any rank" : fmt::format("rank {}", message.peer), message.tag,
                              message.capacity));
    }
    check_mpi(code, "MPI_Test");
    if (arrived == 0) break;
    land(message, status);
    moved = true;
  }
  return moved;
}

/// Whether no older receive can take pieces of this message, nor this one pieces of theirs.
bool PointToPoint::may_post(const Message& message) const {
  for (const auto& other : m_pending) {
    if (other.get() == &message) break;
    const bool same_peer = other->peer == message.peer || other->peer == any_rank || message.peer == any_rank;
    const bool in_order = !other->pieces.empty() && other->capacity < m_limit;  // MPI matches in the order of posting
    if (!other->is_send && other->tag == message.tag && same_peer && !in_order) return false;
  }
  return true;
}

/// Posts the receive of the next piece.
void PointToPoint::post(Message& message) {
  message.pieces.resize(1);
  check_mpi(
      MPI_Irecv(message.target + message.moved, static_cast<int>(std::min(m_limit, message.capacity - message.moved)),
                MPI_BYTE, message.peer == any_rank ? MPI_ANY_SOURCE : message.peer, message.tag, m_comm,
                message.pieces.data()),
      "MPI_Irecv");
}

/// Takes note of a piece that has arrived. The other pieces come from the same rank.
void PointToPoint::land(Message& message, const MPI_Status& status) {
  int bytes = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  message.pieces.clear();
  message.peer = status.MPI_SOURCE;
  message.moved += bytes;
  message.ended = bytes < m_limit;
}

}  // namespace gradcomp::comm
