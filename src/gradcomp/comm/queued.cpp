#include "gradcomp/comm/queued.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "gradcomp/core/event.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/core/thread_device.hpp"
#include "gradcomp/core/waiting_clock.hpp"

namespace gradcomp {
namespace comm {
namespace {

struct Queue;

class QueuedCalls final : public Operation {
 public:
  void reset() {
    done = false;
    error = nullptr;
  }
  bool test() override;
  void wait() override;

  std::shared_ptr<Queue> queue;
  std::vector<Call> calls;
  Event ready;               ///< the end of the caller's earlier work
  Completion inner;          ///< of the inner transport; only the thread uses it
  bool done = false;         ///< guarded by the queue's mutex, as are the two below
  std::exception_ptr error;  ///< what the calls threw

 private:
  void take_result();
};

/// The instance of the communication thread. It differs from the caller's, so that calls do not wait for later work of
/// the caller.
Exec own_instance() {
  if constexpr (device_is_host) {
    return Exec();
  } else {
    return Kokkos::Experimental::partition_space(Exec(), 1)[0];
  }
}

/// What the caller and the communication thread share.
struct Queue {
  void give_up() {
    const std::lock_guard lock(mutex);
    dead = true;
  }
  [[noreturn]] void fail(const Call& call) const {
    throw Error(fmt::format("{}: a call of {} did not end within {} s; a peer is gone or hangs", inner->name(),
                            name_of(call), limit_seconds));
  }

  std::mutex mutex;
  std::condition_variable wake, ended;
  std::deque<std::shared_ptr<QueuedCalls>> calls;
  bool stop = false, dead = false;
  double limit_seconds = 0;
  std::unique_ptr<Transport> inner;
  const Exec exec = own_instance();
};

bool QueuedCalls::test() {
  const std::lock_guard lock(queue->mutex);
  if (done) take_result();
  return done;
}

void QueuedCalls::wait() {
  std::unique_lock lock(queue->mutex);
  const auto over = [&] { return done; };
  if (queue->limit_seconds > 0) {
    constexpr std::chrono::milliseconds look(50);
    const double end = waiting_seconds() + queue->limit_seconds;
    while (!queue->dead && !queue->ended.wait_for(lock, look, over)) {
      if (waiting_seconds() > end) queue->dead = true;
    }
    if (queue->dead) queue->fail(calls.front());
  }
  queue->ended.wait(lock, over);
  take_result();
}

void QueuedCalls::take_result() {
  if (error) std::rethrow_exception(error);
}

/// Messages between two ranks: the inner transport carries them, and the limit of the queue bounds the time to wait.
class LimitedMessages final : public Operation {
 public:
  void reset() {
    inner = Completion();
    landed = false;
  }
  bool test() override {
    if (landed || !inner.test()) return landed;
    inner.wait();
    land();
    return true;
  }
  void wait() override {
    wait_for_end();
    test();
  }
  void order(const Exec& exec) override {
    if (landed) return;
    wait_for_end();
    inner.order(exec);
    land();
  }

  std::shared_ptr<Queue> queue;
  Completion inner;
  Call first;  ///< for the error
  bool landed = false;

 private:
  void wait_for_end() {
    constexpr int looks_before_sleep = 200;
    constexpr std::chrono::microseconds pause(20);
    const double end = waiting_seconds() + queue->limit_seconds;
    for (int look = 0; !landed && !inner.test(); ++look) {
      if (waiting_seconds() > end) {
        queue->give_up();
        queue->fail(first);
      }
      if (look < looks_before_sleep) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(pause);
      }
    }
  }
  void land() {
    times = inner.times();
    const auto all = inner.all_found();
    std::copy(all.begin(), all.end(), found.begin());
    inner = Completion();
    landed = true;
  }
};

void carry(Queue& queue, QueuedCalls& calls) {
  try {
    calls.ready.wait();
    calls.inner = queue.inner->start(queue.exec, calls.calls);
    calls.inner.wait();
    // The caller orders its work behind the host alone, and a copy within a device has only been launched.
    if constexpr (!device_is_host) gradcomp::wait(queue.exec, "gradcomp::comm::queued");
    calls.times = calls.inner.times();
    calls.found.assign(calls.inner.all_found().begin(), calls.inner.all_found().end());
  } catch (...) {
    calls.error = std::current_exception();
  }
  calls.inner = Completion();
}

/// The communication thread. It shares the queue, because the owner may be gone. After the owner has given up, the
/// thread begins no further call, because Kokkos may have been finalized.
void serve(const std::shared_ptr<Queue>& queue) {
  use_device_of_process();
  std::unique_lock lock(queue->mutex);
  while (true) {
    queue->wake.wait(lock, [&] { return queue->stop || queue->dead || !queue->calls.empty(); });
    if (queue->dead || queue->calls.empty()) return;
    auto calls = std::move(queue->calls.front());
    queue->calls.pop_front();
    lock.unlock();
    carry(*queue, *calls);
    lock.lock();
    calls->done = true;
    calls.reset();
    queue->ended.notify_all();
  }
}

class Queued final : public Transport {
 public:
  Queued(std::unique_ptr<Transport> inner, double limit_seconds) : m_queue(std::make_shared<Queue>()) {
    m_queue->inner = std::move(inner);
    m_queue->limit_seconds = limit_seconds;
    m_thread = std::thread([queue = m_queue] { serve(queue); });
  }
  ~Queued() override {
    const bool dead = [&] {
      const std::lock_guard lock(m_queue->mutex);
      m_queue->stop = true;
      return m_queue->dead;
    }();
    m_queue->wake.notify_one();
    if (dead) {
      m_thread.detach();  // it hangs in a call that cannot be cancelled
      // The thread's data is never freed: if the call ends after all, Kokkos may have been finalized before.
      new std::shared_ptr<Queue>(m_queue);
    } else {
      m_thread.join();
    }
  }

  int rank() const override { return m_queue->inner->rank(); }
  int size() const override { return m_queue->inner->size(); }
  int ranks_per_node() const override { return m_queue->inner->ranks_per_node(); }
  std::string name() const override { return "queued/" + m_queue->inner->name(); }
  bool overlaps() const override { return true; }
  bool concurrent() const override { return true; }

  Completion start(const Exec& exec, std::span<const Call> together) override {
    if (std::all_of(together.begin(), together.end(), is_point_to_point)) return start_messages(exec, together);
    auto calls = m_pool.take(together.size());
    calls->queue = m_queue;
    calls->calls.assign(together.begin(), together.end());
    calls->ready.record(exec);
    {
      const std::lock_guard lock(m_queue->mutex);
      m_queue->calls.push_back(calls);
    }
    m_queue->wake.notify_one();
    return Completion(std::move(calls));
  }
  void abandon() override { m_queue->give_up(); }
  std::unique_ptr<Transport> split(int color, int key) override {
    run(*this, Exec(), Barrier{});  // behind all queued calls
    return std::make_unique<Queued>(m_queue->inner->split(color, key), m_queue->limit_seconds);
  }

 private:
  Completion start_messages(const Exec& exec, std::span<const Call> together) {
    Completion inner = m_queue->inner->start(exec, together);
    if (m_queue->limit_seconds <= 0 || together.empty()) return inner;
    auto messages = m_messages.take(together.size());
    messages->queue = m_queue;
    messages->inner = std::move(inner);
    messages->first = together.front();
    return Completion(std::move(messages));
  }

  std::shared_ptr<Queue> m_queue;
  OperationPool<QueuedCalls> m_pool;
  OperationPool<LimitedMessages> m_messages;
  std::thread m_thread;
};

}  // namespace
}  // namespace comm

std::unique_ptr<Transport> make_queued(std::unique_ptr<Transport> inner, double limit_seconds) {
  if (inner->overlaps()) {
    if (limit_seconds > 0) inner->limit(limit_seconds);
    return inner;
  }
  require(
      inner->concurrent(),
      "{}: a communication thread needs MPI_THREAD_MULTIPLE, which this MPI does not offer; use strategy=synchronous "
      "without a time limit",
      inner->name());
  return std::make_unique<comm::Queued>(std::move(inner), limit_seconds);
}

std::unique_ptr<Transport> make_limited(std::unique_ptr<Transport> inner, double limit_seconds) {
  return limit_seconds > 0 ? make_queued(std::move(inner), limit_seconds) : std::move(inner);
}

}  // namespace gradcomp
