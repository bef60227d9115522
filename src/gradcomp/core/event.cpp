#include "gradcomp/core/event.hpp"

#include <utility>

#include "gradcomp/core/device_runtime.hpp"

#ifndef GRADCOMP_DEVICE_RUNTIME
#include <chrono>
#endif

namespace gradcomp {

Event::Event() = default;
Event::Event(Event&& other) noexcept { *this = std::move(other); }
Event& Event::operator=(Event&& other) noexcept {
  std::swap(m_device, other.m_device);
  std::swap(m_seconds, other.m_seconds);
  return *this;
}

#ifdef GRADCOMP_DEVICE_RUNTIME

Event::~Event() {
  if (m_device != nullptr) device::event_destroy(static_cast<device::Event>(m_device));
}

void Event::record(const Exec& exec) {
  if (m_device == nullptr) {
    device::Event made{};
    check_device(device::event_create(&made), "create an event");
    m_device = made;
  }
  check_device(device::event_record(static_cast<device::Event>(m_device), device::stream_of(exec)), "record an event");
}

void Event::wait() const {
  if (m_device != nullptr) check_device(device::event_wait(static_cast<device::Event>(m_device)), "wait for an event");
}

bool Event::test() const {
  if (m_device == nullptr) return true;
  const auto code = device::event_query(static_cast<device::Event>(m_device));
  if (code == device::not_ready) return false;
  check_device(code, "test an event");
  return true;
}

void Event::order(const Exec& exec) const {
  if (m_device == nullptr) return;
  check_device(device::stream_wait(device::stream_of(exec), static_cast<device::Event>(m_device)),
               "let a stream wait for an event");
}

double Event::seconds_since(const Event& earlier) const {
  float milliseconds = 0;
  check_device(device::event_elapsed(&milliseconds, static_cast<device::Event>(earlier.m_device),
                                     static_cast<device::Event>(m_device)),
               "measure the time between events");
  return 1e-3 * static_cast<double>(milliseconds);
}

#else

Event::~Event() = default;

void Event::record(const Exec&) {
  m_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
void Event::wait() const {}
bool Event::test() const { return true; }
void Event::order(const Exec&) const {}
double Event::seconds_since(const Event& earlier) const { return m_seconds - earlier.m_seconds; }

#endif

}  // namespace gradcomp
