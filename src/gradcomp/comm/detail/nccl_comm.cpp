#include "gradcomp/comm/detail/nccl_comm.hpp"

#include <thread>

#include "gradcomp/comm/detail/nccl_bootstrap.hpp"
#include "gradcomp/core/thread_device.hpp"
#include "gradcomp/core/waiting_clock.hpp"

namespace gradcomp::comm {
namespace {

constexpr std::chrono::milliseconds watch_period(5);
constexpr double blocked_seconds = 1;  ///< a ncclGroupEnd() that takes longer waits for a peer

std::shared_ptr<Stream> shared_stream() {
  static std::weak_ptr<Stream> shared;
  auto stream = shared.lock();
  if (!stream) shared = stream = std::make_shared<Stream>();
  return stream;
}

double seconds_since(double time) { return waiting_seconds() - time; }

/// Pauses between two looks of a thread that has waited since `begin`.
void pause(double begin) {
  if (seconds_since(begin) < 1e-3) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(50));  // other threads need the core
  }
}

}  // namespace

NcclComm::NcclComm(MPI_Comm comm, double limit_seconds) : m_stream(shared_stream()), m_limit_seconds(limit_seconds) {
  require_own_devices(comm, own_device());
  m_comm = make_nccl_comm(comm);
  // A main thread that waits for the device cannot look for errors, and would wait forever for a call that never ends.
  m_watchdog = std::make_unique<Watchdog>(watch_period, use_device_of_process, [this] { return look(); });
}

NcclComm::~NcclComm() {
  while (look()) std::this_thread::yield();
  m_watchdog.reset();
  if (m_comm != nullptr) (void)ncclCommDestroy(m_comm);
}

ncclComm_t NcclComm::handle() {
  const std::lock_guard lock(m_mutex);
  require_alive();
  return m_comm;
}

/// The thread that makes the calls takes note of where it is.
void NcclComm::enter(Group state) {
  {
    const std::lock_guard lock(m_mutex);
    if (state == Group::queuing) require_alive();
    m_group = state;
    m_group_since = waiting_seconds();
    if (!m_dead.empty()) abort_when_possible();
  }
  if (state == Group::ending) m_watchdog->wake();
}

void NcclComm::check(ncclResult_t code, const char* what) {
  if (code == ncclSuccess) return;
  const std::lock_guard lock(m_mutex);
  if (m_dead.empty()) die(fmt::format("{}: {}", what, nccl_text(code, m_comm)));
  require_alive();
}

void NcclComm::depart(const std::shared_ptr<Flight>& flight, const char* what) {
  flight->end.record(exec());
  flight->since = waiting_seconds();
  flight->landed = false;
  flight->what = what;
  {
    const std::lock_guard lock(m_mutex);
    require_alive();
    m_in_flight.push_back(flight);
  }
  m_watchdog->wake();
}

bool NcclComm::landed(const Flight& flight) {
  if (flight.landed) return true;
  look();
  if (flight.landed) return true;
  const std::lock_guard lock(m_mutex);
  require_alive();
  return false;
}

void NcclComm::wait(const Flight& flight) {
  const double begin = waiting_seconds();
  while (!landed(flight)) pause(begin);
}

void NcclComm::wait_on_host(const std::function<bool()>& ended, const char* what) {
  const double begin = waiting_seconds();
  while (!ended()) {
    look();
    {
      const std::lock_guard lock(m_mutex);
      const bool late = m_limit_seconds > 0 && seconds_since(begin) > m_limit_seconds;
      if (late && m_dead.empty()) die(overdue(what));
      require_alive();
    }
    pause(begin);
  }
}

void NcclComm::limit(double seconds) {
  const std::lock_guard lock(m_mutex);
  m_limit_seconds = smaller_limit(m_limit_seconds, seconds);
}

void NcclComm::abandon() {
  const std::lock_guard lock(m_mutex);
  if (m_dead.empty()) die("the job ends by an error");
}

bool NcclComm::alive() {
  const std::lock_guard lock(m_mutex);
  return m_dead.empty();
}

void NcclComm::settle(const char* what) {
  if constexpr (device_is_host) {
    const auto flight = std::make_shared<Flight>();
    depart(flight, what);
    wait(*flight);
  }
}

bool NcclComm::look() {
  const std::lock_guard lock(m_mutex);
  try {
    if (m_dead.empty()) land();
  } catch (const Error& error) {  // of the device's runtime
    die(error.what());
  }
  if (m_dead.empty()) return !m_in_flight.empty() || m_group == Group::ending;
  abort_when_possible();
  return m_comm != nullptr;
}

void NcclComm::land() {
  ncclResult_t state = ncclSuccess;
  const ncclResult_t asked = ncclCommGetAsyncError(m_comm, &state);
  const ncclResult_t found = asked != ncclSuccess ? asked : state;
  if (found != ncclSuccess && !is_in_progress(found)) {
    die(fmt::format("an asynchronous error: {}", nccl_text(found, m_comm)));
    return;
  }
  while (!m_in_flight.empty()) {
    Flight& first = *m_in_flight.front();
    // events of a host build always have ended; its fake NCCL is in progress until all its calls have ended
    if (device_is_host ? is_in_progress(state) : !first.end.test()) break;
    first.finished = Clock::now();
    first.landed = true;
    m_in_flight.pop_front();
  }
  if (!m_in_flight.empty() && m_limit_seconds > 0 && seconds_since(m_in_flight.front()->since) > m_limit_seconds) {
    die(overdue(m_in_flight.front()->what));
    return;
  }
  if (m_group == Group::ending && m_limit_seconds > 0 && seconds_since(m_group_since) > m_limit_seconds) {
    die(overdue("ncclGroupEnd"));
  }
}

void NcclComm::die(const std::string& why) {
  m_dead = why;
  m_in_flight.clear();
  abort_when_possible();
}

/// ncclCommAbort() ends the kernels of the communicator, so that nobody waits for them. It also frees the communicator,
/// and NCCL allows only one thread at a time to use it. So the abort must not come between the calls of a group that
/// another thread makes: they only queue, and never block. ncclGroupEnd() is different: when it sets up connections, it
/// may wait for a peer that is gone. Only an abort by another thread ends this wait, so after a while there is one. A
/// ncclGroupEnd() that does not wait is over by then.
void NcclComm::abort_when_possible() {
  const bool blocked = m_group == Group::ending && seconds_since(m_group_since) > blocked_seconds;
  if (m_comm == nullptr || (m_group != Group::none && !blocked)) return;
  (void)ncclCommAbort(m_comm);
  m_comm = nullptr;
}

std::string NcclComm::overdue(const char* what) const {
  return fmt::format("a call of {} did not end within {} s; a peer is gone or hangs", what, m_limit_seconds);
}

void NcclComm::require_alive() { require(m_dead.empty(), "nccl: {}", m_dead); }

}  // namespace gradcomp::comm
