#pragma once
// The contract of a transport, which carries bytes between ranks. The transports are in comm/transports/, and
// registry.hpp finds them by name. There are three wrappers: counting, throttled (an emulated link) and queued (a
// communication thread).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "gradcomp/comm/call.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/event.hpp"

namespace gradcomp {

using Clock = std::chrono::steady_clock;

/// When a group of calls ran.
struct Times {
  Clock::time_point started, finished;
};

/// A group of calls in progress. Transports implement it; callers hold it as a Completion.
class Operation {
 public:
  virtual ~Operation() = default;
  /// Whether all calls have ended. Does not block, except with an emulated link (throttled.hpp). Throws what a call
  /// threw.
  virtual bool test() = 0;
  /// Returns when all calls have ended. Throws what a call threw.
  virtual void wait() = 0;
  /// Lets later work of exec start after the calls. The host waits, unless the transport works on streams.
  virtual void order(const Exec&) { wait(); }
  /// For transports on streams: moves the events around the calls to `begin` and `end`, once. If it returns false,
  /// `times` holds the times instead.
  virtual bool take_events(Event& /*begin*/, Event& /*end*/) { return false; }

  Times times;               ///< known when the calls have ended
  std::vector<Found> found;  ///< one per call; known when they have ended, or after order()
};

/// The caller's handle of a group of calls, move-only. It may be destroyed before the calls have ended; their buffers
/// must still live until then.
class Completion {
 public:
  Completion() = default;
  explicit Completion(std::shared_ptr<Operation> operation) : m_operation(std::move(operation)) {}
  /// Whether start() returned it. If not, nothing else may be called.
  bool valid() const { return m_operation != nullptr; }
  Completion(Completion&&) = default;
  Completion& operator=(Completion&&) = default;

  bool test() { return m_operation->test(); }
  void wait() { m_operation->wait(); }
  void order(const Exec& exec) { m_operation->order(exec); }
  bool take_events(Event& begin, Event& end) { return m_operation->take_events(begin, end); }
  const Times& times() const { return m_operation->times; }
  const Found& found(std::size_t call = 0) const { return m_operation->found.at(call); }
  std::span<const Found> all_found() const { return m_operation->found; }

 private:
  std::shared_ptr<Operation> m_operation;
};

/// All ranks make collective calls in the same order, and messages between two ranks in any order. If a peer or the
/// library fails, start(), test() or wait() throws Error on the rank that sees it, and main() aborts the job.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Ranks per node, if all nodes have the same number and the ranks of a node are consecutive; 0 otherwise, or if the
  /// transport does not know.
  virtual int ranks_per_node() const { return 0; }
  virtual std::string name() const = 0;  ///< such as "mpi" or "emulated(100Mbit/s,50us)/mpi"
  /// Whether start() returns before collective calls have ended, so that computation can hide them.
  virtual bool overlaps() const = 0;
  /// Whether another thread than the caller's may start collective calls (queued.hpp needs this).
  virtual bool concurrent() const = 0;

  /// Begins the calls together, after the earlier work of exec. A transport that does not overlap may carry out
  /// collective calls before it returns. Messages between two ranks never block it.
  virtual Completion start(const Exec& exec, std::span<const Call> together) = 0;
  Completion start(const Exec& exec, const Call& call) { return start(exec, std::span<const Call>(&call, 1)); }

  /// From now on, waiting for a call that takes longer than `seconds` (above 0) throws Error, and the job must end. The
  /// smallest limit holds. This is for transports that overlap by themselves: make_queued() bounds the calls of others.
  virtual void limit(double /*seconds*/) {}
  /// The job ends by an error: from now on nothing waits for calls in progress, which may never end.
  virtual void abandon() {}

  /// Collective. Ranks with the same color form a new transport, ordered by key. split(0, rank()) is a duplicate.
  virtual std::unique_ptr<Transport> split(int color, int key) = 0;
};

/// Throws Error unless tag, peer, root, part counts and type of the call are possible among `ranks` ranks.
void check_call(const Call& call, int ranks);

/// The smaller of two limits in seconds, of which 0 means no limit.
inline double smaller_limit(double a, double b) { return a > 0 && b > 0 ? std::min(a, b) : std::max(a, b); }

/// Starts one call and waits for its end.
Found run(Transport& transport, const Exec& exec, const Call& call);
inline void barrier(Transport& transport) { run(transport, Exec(), Barrier{}); }

/// Whether nobody but the caller's container holds the object. Then all that its last other owner did with it, perhaps
/// in another thread, has happened before.
template <class T>
bool unshared(const std::shared_ptr<T>& held) {
  if (held.use_count() > 1) return false;
  std::atomic_thread_fence(std::memory_order_acquire);
  const std::shared_ptr<T> copy = held;  // for the thread sanitizer: it knows changes of the count, but no fences
  return true;
}

/// Operations that are used again when nobody holds them any more, so that a step allocates none. Thread-safe.
template <class T>
class OperationPool {
 public:
  /// An operation with room for the results of `calls` calls.
  std::shared_ptr<T> take(std::size_t calls) {
    const std::lock_guard lock(m_mutex);
    for (auto& held : m_all) {
      if (unshared(held)) return prepared(held, calls);
    }
    m_all.push_back(std::make_shared<T>());
    return prepared(m_all.back(), calls);
  }

 private:
  static std::shared_ptr<T> prepared(const std::shared_ptr<T>& operation, std::size_t calls) {
    operation->found.resize(calls);
    operation->times = {};
    operation->reset();
    return operation;
  }
  std::mutex m_mutex;
  std::vector<std::shared_ptr<T>> m_all;
};

/// The operation of calls that have ended before start() returns.
class Finished final : public Operation {
 public:
  void reset() {}
  bool test() override { return true; }
  void wait() override {}
};

}  // namespace gradcomp
