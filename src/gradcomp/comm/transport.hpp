#pragma once
// The contract of a transport: what carries bytes between ranks. Kinds: comm/transports/, chosen by name
// (registry.hpp). Wrappers: counting, throttled (an emulated link), queued (a communication thread).
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

/// A group of calls under way: what transports implement, and callers hold as a Completion.
class Operation {
 public:
  virtual ~Operation() = default;
  /// True once all calls have ended. Never blocks; throws what a call threw.
  virtual bool test() = 0;
  /// Returns when all calls have ended; throws what a call threw.
  virtual void wait() = 0;
  /// Later work of exec comes after the calls: a host wait, unless the transport works on streams.
  virtual void order(const Exec&) { wait(); }
  /// Of a transport on streams: moves the events around the calls to `begin` and `end`, once. False: see `times`.
  virtual bool take_events(Event& /*begin*/, Event& /*end*/) { return false; }

  Times times;               ///< known when the calls have ended
  std::vector<Found> found;  ///< one per call; known when they have ended, or after order()
};

/// The caller's handle of a group of calls: move-only. It may be dropped before the end; the buffers must then live on.
class Completion {
 public:
  Completion() = default;
  explicit Completion(std::shared_ptr<Operation> operation) : m_operation(std::move(operation)) {}
  /// Whether start() returned it; if it was only declared, nothing else may be called.
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

/// How 16-bit floats are added: in f32 in rank order and rounded once, or by the library's own rule.
enum class Sum : std::uint8_t { rank_order, library };

/// What part of the machine a transport spans: the key of the ledger of bytes (counting.hpp).
enum class Level : std::uint8_t { all, node, across };
inline constexpr std::size_t level_count = 3;
const char* to_string(Level level);

/// Collective calls are made in the same order on all ranks; messages between two ranks in any. Failure of a peer or of
/// the library ends the job: Error on the rank that sees it (from start(), test() or wait()), then abort in main.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Ranks per node, if all nodes have the same number and the ranks of a node are consecutive; 0: otherwise, or
  /// unknown.
  virtual int ranks_per_node() const { return 0; }
  virtual std::string name() const = 0;  ///< "mpi", "emulated(100Mbit/s,50us)/mpi"
  /// If it is the library's rule, name() says so, so that results under the two rules are never confused.
  virtual Sum sum() const { return Sum::rank_order; }
  /// True when start() returns before collective calls have ended, so that computing can hide them.
  virtual bool overlaps() const = 0;
  /// True when start() of collective calls may run on another thread than the caller's (queued.hpp needs it).
  virtual bool concurrent() const = 0;

  /// Begins the calls, together, after exec's earlier work. A transport without a thread of its own may carry out
  /// collective calls before it returns; messages between two ranks never block it.
  virtual Completion start(const Exec& exec, std::span<const Call> together) = 0;
  Completion start(const Exec& exec, const Call& call) { return start(exec, std::span<const Call>(&call, 1)); }

  /// The job ends by an error, and calls in progress may never end: nothing waits for them any more.
  virtual void abandon() {}

  /// Ranks of equal color form a transport, ordered by key. split(0, rank()) is a duplicate. Collective.
  virtual std::unique_ptr<Transport> split(int color, int key, Level level = Level::all) = 0;
};

/// Throws Error unless tag, peer, root and type of the call are possible among so many ranks.
void check_call(const Call& call, int ranks);

/// One call from its beginning to its end.
Found run(Transport& transport, const Exec& exec, const Call& call);
inline void barrier(Transport& transport) { run(transport, Exec(), Barrier{}); }

/// Operations that are used again once nobody holds them, so that a step allocates none. For any thread.
template <class T>
class OperationPool {
 public:
  /// One with room for what `calls` calls find.
  std::shared_ptr<T> take(std::size_t calls) {
    const std::lock_guard lock(m_mutex);
    for (auto& held : m_all) {
      if (held.use_count() > 1) continue;
      std::atomic_thread_fence(std::memory_order_acquire);  // another thread may have been the last to let go
      return prepared(held, calls);
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

/// Of calls that end before start() returns.
class Finished final : public Operation {
 public:
  void reset() {}
  bool test() override { return true; }
  void wait() override {}
};

}  // namespace gradcomp
