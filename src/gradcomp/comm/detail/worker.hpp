#pragma once
// One thread that runs tasks in the order they were given.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>

namespace gradcomp::comm {

/// Tasks must not throw. The destructor runs what is left, then ends the thread.
class Worker {
 public:
  Worker() : m_thread([this] { run(); }) {}
  ~Worker() {
    {
      const std::lock_guard lock(m_mutex);
      m_stop = true;
    }
    m_wake.notify_one();
    m_thread.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void post(std::function<void()> task) {
    {
      const std::lock_guard lock(m_mutex);
      m_tasks.push(std::move(task));
    }
    m_wake.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(m_mutex);
    while (true) {
      m_wake.wait(lock, [&] { return m_stop || !m_tasks.empty(); });
      if (m_tasks.empty()) return;
      const auto task = std::move(m_tasks.front());
      m_tasks.pop();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex m_mutex;
  std::condition_variable m_wake;
  std::queue<std::function<void()>> m_tasks;
  bool m_stop = false;
  std::thread m_thread;  // last: it uses the others
};

}  // namespace gradcomp::comm
