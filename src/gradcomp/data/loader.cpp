#include "gradcomp/data/loader.hpp"

#include <utility>

namespace gradcomp::data {

Loader::Loader(Fill fill, index_t first_step)
    : m_fill(std::move(fill)),
      m_ready(first_step),
      m_taken(first_step),
      m_thread([this, first_step](const std::stop_token& stop) { run(stop, first_step); }) {}

Loader::~Loader() {
  m_thread.request_stop();  // wakes the wait below
  m_thread.join();
}

void Loader::run(const std::stop_token& stop, index_t first_step) {
  try {
    for (index_t step = first_step; !stop.stop_requested(); ++step) {
      {
        // This slot held the batch of step - depth - 1. If that is the last one that next() returned, it is in use.
        std::unique_lock lock(m_mutex);
        if (!m_changed.wait(lock, stop, [&] { return step <= m_taken - 1 + depth; })) return;
      }
      Batch& batch = m_ring[static_cast<std::size_t>(step % (depth + 1))];
      batch.step = step;
      m_fill(batch);
      const std::lock_guard lock(m_mutex);
      m_ready = step + 1;
      m_changed.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(m_mutex);
    m_error = std::current_exception();
    m_changed.notify_all();
  }
}

const Batch& Loader::next() {
  std::unique_lock lock(m_mutex);
  m_changed.wait(lock, [&] { return m_ready > m_taken || m_error; });
  if (m_ready <= m_taken) std::rethrow_exception(m_error);
  const Batch& batch = m_ring[static_cast<std::size_t>(m_taken % (depth + 1))];
  ++m_taken;
  m_changed.notify_all();  // the batch of the previous call is free now
  return batch;
}

}  // namespace gradcomp::data
