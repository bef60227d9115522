#pragma once
// Tasks that run at a given time, on a thread that starts with the first task.
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "gradcomp/comm/transport.hpp"
#include "gradcomp/core/thread_device.hpp"

namespace gradcomp::comm {

class Timer {
 public:
  /// A task that runs once, at its time.
  class Task {
   public:
    explicit Task(std::function<void()> work) : m_work(std::move(work)) {}
    /// Whether the task has run; with `block`, waits until it has. Throws what the task threw.
    bool done(bool block) {
      std::unique_lock lock(m_mutex);
      if (block) m_ended.wait(lock, [&] { return m_done; });
      if (m_done && m_error) std::rethrow_exception(m_error);
      return m_done;
    }
    void run() {
      std::exception_ptr error;
      try {
        m_work();
      } catch (...) {
        error = std::current_exception();
      }
      end(error);
    }
    /// The task has run and threw `error`, or it will never run because of it.
    void end(const std::exception_ptr& error) {
      m_work = nullptr;  // what it holds may hold this task, and streams that their owner will destroy
      const std::lock_guard lock(m_mutex);
      m_error = error;
      m_done = true;
      m_ended.notify_all();
    }

   private:
    std::function<void()> m_work;
    std::mutex m_mutex;
    std::condition_variable m_ended;
    std::exception_ptr m_error;
    bool m_done = false;
  };

  Timer() = default;
  /// Waits for the tasks that are left; each runs at its time.
  ~Timer() {
    {
      const std::lock_guard lock(m_mutex);
      m_stop = true;
    }
    m_wake.notify_one();
    if (m_thread.joinable()) m_thread.join();
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  std::shared_ptr<Task> at(Clock::time_point due, std::function<void()> work) {
    auto task = std::make_shared<Task>(std::move(work));
    {
      const std::lock_guard lock(m_mutex);
      m_tasks.emplace(due, task);
      if (!m_thread.joinable()) m_thread = std::thread([this] { serve(); });
    }
    m_wake.notify_one();
    return task;
  }
  /// Ends the tasks that have not begun: done() throws `error`.
  void drop(const std::exception_ptr& error) {
    {
      const std::lock_guard lock(m_mutex);
      for (const auto& [due, task] : m_tasks) task->end(error);
      m_tasks.clear();
    }
    m_wake.notify_one();
  }

 private:
  void serve() {
    use_device_of_process();
    std::unique_lock lock(m_mutex);
    while (true) {
      if (m_tasks.empty()) {
        if (m_stop) return;
        m_wake.wait(lock);
      } else if (const auto due = m_tasks.begin()->first; Clock::now() < due) {
        m_wake.wait_until(lock, due);
      } else {
        const auto task = m_tasks.begin()->second;
        m_tasks.erase(m_tasks.begin());
        lock.unlock();
        task->run();
        lock.lock();
      }
    }
  }

  std::mutex m_mutex;
  std::condition_variable m_wake;
  std::multimap<Clock::time_point, std::shared_ptr<Task>> m_tasks;
  bool m_stop = false;
  std::thread m_thread;
};

}  // namespace gradcomp::comm
