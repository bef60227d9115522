#pragma once
// A thread that calls a function periodically while there is something to watch, and sleeps otherwise.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace gradcomp::comm {

class Watchdog {
 public:
  /// After wake(), the thread calls `look` every `period` until it returns false; `look` must not throw. The thread
  /// calls `begin` once, before all else.
  Watchdog(std::chrono::milliseconds period, std::function<void()> begin, std::function<bool()> look)
      : m_period(period), m_begin(std::move(begin)), m_look(std::move(look)), m_thread([this] { serve(); }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(m_mutex);
      m_stop = true;
    }
    m_change.notify_one();
    m_thread.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void wake() {
    {
      const std::lock_guard lock(m_mutex);
      if (m_awake) return;
      m_awake = true;
    }
    m_change.notify_one();
  }

 private:
  void serve() {
    m_begin();
    std::unique_lock lock(m_mutex);
    while (true) {
      m_change.wait(lock, [&] { return m_stop || m_awake; });
      if (m_change.wait_for(lock, m_period, [&] { return m_stop; })) return;
      m_awake = false;  // before m_look(), so that a wake() during it is not lost
      lock.unlock();
      const bool more = m_look();
      lock.lock();
      m_awake = m_awake || more;
    }
  }

  std::chrono::milliseconds m_period;
  std::function<void()> m_begin;
  std::function<bool()> m_look;
  std::mutex m_mutex;
  std::condition_variable m_change;
  bool m_stop = false, m_awake = false;
  std::thread m_thread;
};

}  // namespace gradcomp::comm
