#include "gradcomp/comm/detail/emulated_messages.hpp"

#include <algorithm>
#include <utility>

namespace gradcomp::comm {

void EmulatedMessages::add(const Exec& exec, const Call& call, Transport& inner,
                           const std::shared_ptr<EmulatedLink>& link, Timer& timer) {
  auto message = std::make_shared<Message>();
  message->call = call;
  message->link = link;
  if (const auto* send = std::get_if<Send>(&call)) {
    require(inner.concurrent(),
            "{}: over an emulated link messages leave from a thread of their own, which needs MPI_THREAD_MULTIPLE; "
            "this MPI does not offer it; use a reducer without messages between two ranks, such as allreduce",
            inner.name());
    const Clock::time_point begin = std::max(Clock::now(), link->out);
    link->out = begin + duration_of(link->seconds(send->bytes, 0));
    message->ready.record(exec);
    const Clock::time_point due = begin + duration_of(link->seconds(send->bytes, 1));
    // Kokkos counts the owners of an instance, and a Kokkos of Serial alone counts without atomic operations
    // (KOKKOS_ENABLE_ATOMICS_BYPASS): two threads must not own the same one. On hosts, messages may use any instance.
    message->departure = timer.at(due, [&inner, exec = device_is_host ? Exec() : exec, held = message] {
      held->ready.wait();
      held->inner = inner.start(exec, held->call);
    });
  } else {
    message->inner = inner.start(exec, call);
  }
  m_messages.push_back(std::move(message));
}

bool EmulatedMessages::test() {
  bool all = true;
  for (std::size_t i = 0; i < m_messages.size(); ++i) all = land(i, false) && all;
  return all && Clock::now() >= times.finished;
}

void EmulatedMessages::wait() {
  for (std::size_t i = 0; i < m_messages.size(); ++i) land(i, true);
  wait_until(times.finished);
}

bool EmulatedMessages::land(std::size_t index, bool block) {
  Message& message = *m_messages[index];
  if (message.landed) return true;
  if (message.departure && !message.departure->done(block)) return false;
  if (block) {
    message.inner.wait();
  } else if (!message.inner.test()) {
    return false;
  }
  message.landed = true;
  found[index] = message.inner.found();
  Clock::time_point end = message.inner.times().finished;
  if (std::holds_alternative<Receive>(message.call)) {
    EmulatedLink& link = *message.link;
    end = std::max(end, link.in + duration_of(link.seconds(found[index].bytes, 0)));
    link.in = end;
  }
  times.finished = std::max(times.finished, end);
  return true;
}

}  // namespace gradcomp::comm
