#include "gradcomp/comm/throttled.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <thread>
#include <utility>

#include "gradcomp/comm/detail/timer.hpp"
#include "gradcomp/comm/queued.hpp"
#include "gradcomp/comm/volume.hpp"
#include "gradcomp/core/event.hpp"

namespace gradcomp {
namespace comm {
namespace {

Clock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// Yields the core to other threads but does not sleep, like an MPI library that waits: a core that has slept is slow
/// at first and has cold caches, which made the next forward pass of ResNet-20 a third longer.
void wait_until(Clock::time_point time) {
  while (Clock::now() < time) std::this_thread::yield();
}

/// The link of one rank: when its two directions are free again, and when the last collective call ends.
struct SharedLink {
  std::shared_ptr<const Link> given;
  Clock::time_point out, in, collectives;

  double seconds(index_t bytes, int steps) const { return given->seconds(bytes, steps); }
};

/// What a call costs on `link`, by the faster of its two algorithms.
Volume charged(const SharedLink& link, const Call& call, const Found& found, int rank, int ranks) {
  const Volume max_bandwidth = volume(call, found, rank, ranks), min_steps = fewest_steps(call, found, rank, ranks);
  const auto seconds = [&](const Volume& v) { return link.seconds(v.busiest, v.steps); };
  return seconds(min_steps) < seconds(max_bandwidth) ? min_steps : max_bandwidth;
}

class Throttled;

/// Collective calls. The thread that waits for them carries them out.
class EmulatedCalls final : public Operation {
 public:
  void reset() {
    carried = false;
    exec = Exec();
    error = nullptr;
  }
  bool test() override;
  void wait() override;

  Throttled* owner = nullptr;
  std::vector<Call> calls;
  Exec exec;
  bool carried = false;
  std::exception_ptr error;    ///< what carrying them out threw
  Clock::time_point earliest;  ///< when they end if all ranks started at the same time
};

/// Messages between two ranks, which the link delays.
class EmulatedMessages final : public Operation {
 public:
  struct Message {
    Call call;
    std::shared_ptr<SharedLink> link;
    std::shared_ptr<Timer::Task> departure;  ///< of a send: the task that starts `inner`
    Completion inner;
    Event ready;  ///< the end of the sender's earlier work
    bool landed = false;
  };

  void reset() { messages.clear(); }
  bool test() override {
    bool all = true;
    for (std::size_t i = 0; i < messages.size(); ++i) all = land(i, false) && all;
    return all && Clock::now() >= times.finished;
  }
  void wait() override {
    for (std::size_t i = 0; i < messages.size(); ++i) land(i, true);
    wait_until(times.finished);
  }

  std::vector<std::shared_ptr<Message>> messages;

 private:
  bool land(std::size_t index, bool block);
};

class Throttled final : public Transport {
 public:
  Throttled(std::unique_ptr<Transport> inner, std::shared_ptr<SharedLink> link)
      : m_inner(std::move(inner)), m_link(std::move(link)), m_time("gradcomp::comm::throttled::time", 1) {}
  ~Throttled() override {
    try {
      while (!m_waiting.empty()) carry_next();
    } catch (...) {  // nobody waits for these calls
    }
  }

  int rank() const override { return m_inner->rank(); }
  int size() const override { return m_inner->size(); }
  int ranks_per_node() const override { return m_inner->ranks_per_node(); }
  std::string name() const override { return "emulated(" + m_link->given->text() + ")/" + m_inner->name(); }
  Sum sum() const override { return m_inner->sum(); }
  bool overlaps() const override { return true; }
  bool concurrent() const override { return m_inner->concurrent(); }

  void limit(double seconds) override { m_inner->limit(seconds); }
  void abandon() override {
    m_waiting.clear();
    m_timer.drop(
        std::make_exception_ptr(Error(fmt::format("{}: a message was dropped, because the job ends", name()))));
    m_inner->abandon();
  }
  Completion start(const Exec& exec, std::span<const Call> together) override {
    const bool messages = std::all_of(together.begin(), together.end(), is_point_to_point);
    return messages ? start_messages(exec, together) : start_collectives(exec, together);
  }
  std::unique_ptr<Transport> split(int color, int key, Level level) override {
    while (!m_waiting.empty()) carry_next();
    return std::make_unique<Throttled>(m_inner->split(color, key, level), m_link);
  }

  void carry(const EmulatedCalls& until) {
    while (!until.carried) {
      require(!m_waiting.empty(), "{}: a call was dropped, because the job ends", name());
      carry_next();
    }
    if (until.error) std::rethrow_exception(until.error);
  }

 private:
  Completion start_collectives(const Exec& exec, std::span<const Call> together);
  Completion start_messages(const Exec& exec, std::span<const Call> together);
  void carry_next();
  void carry_out(EmulatedCalls& calls);
  Clock::time_point latest_start(const Exec& exec, Clock::time_point own);

  std::unique_ptr<Transport> m_inner;
  std::shared_ptr<SharedLink> m_link;
  std::deque<std::shared_ptr<EmulatedCalls>> m_waiting;
  OperationPool<EmulatedCalls> m_calls;
  OperationPool<EmulatedMessages> m_messages;
  Vector<index_t> m_time;                               ///< [1], the time on which the ranks agree
  Clock::time_point m_zero = Clock::time_point::min();  ///< the same moment on all ranks
  Timer m_timer;                                        ///< last: its tasks use the others
};

bool EmulatedCalls::test() {
  if (!carried && Clock::now() < earliest) return false;
  owner->carry(*this);
  return Clock::now() >= times.finished;
}

void EmulatedCalls::wait() {
  owner->carry(*this);
  wait_until(times.finished);
}

Completion Throttled::start_collectives(const Exec& exec, std::span<const Call> together) {
  auto calls = m_calls.take(together.size());
  calls->owner = this;
  calls->calls.assign(together.begin(), together.end());
  calls->exec = exec;
  calls->times.started = Clock::now();
  double seconds = 0;
  for (const Call& call : together) {
    const bool sized = std::holds_alternative<AllGatherV>(call) || std::holds_alternative<AllToAllV>(call);
    const Volume least = sized ? barrier_volume(size()) : charged(*m_link, call, {}, rank(), size());
    seconds += m_link->seconds(least.busiest, least.steps);
  }
  calls->earliest = calls->times.started + duration_of(seconds);
  m_waiting.push_back(calls);
  return Completion(std::move(calls));
}

/// When the last rank started the call that this rank started at `own`.
Clock::time_point Throttled::latest_start(const Exec& exec, Clock::time_point own) {
  if (m_zero == Clock::time_point::min()) {
    run(*m_inner, exec, Barrier{});  // all ranks leave it together, so their clocks show the same moment
    m_zero = Clock::now();
  }
  index_t nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(own - m_zero).count();
  const HostSpan<index_t> host(&nanoseconds, 1);
  Kokkos::deep_copy(m_time, host);
  run(*m_inner, exec, AllReduce{m_time.data(), m_time.data(), 1, DType::i64, ReduceOp::max});
  Kokkos::deep_copy(host, m_time);
  return m_zero + std::chrono::nanoseconds(nanoseconds);
}

/// If the calls fail, the caller gets the error now, and those who wait for the calls later get it again.
void Throttled::carry_next() {
  const auto calls = std::move(m_waiting.front());
  m_waiting.pop_front();
  calls->carried = true;
  try {
    carry_out(*calls);
  } catch (...) {
    calls->error = std::current_exception();
    throw;
  }
}

void Throttled::carry_out(EmulatedCalls& calls) {
  Clock::time_point begin = latest_start(calls.exec, calls.times.started);
  Completion inner = m_inner->start(calls.exec, calls.calls);
  inner.wait();
  inner.order(calls.exec);
  calls.found.assign(inner.all_found().begin(), inner.all_found().end());
  Volume sum;
  for (std::size_t i = 0; i < calls.calls.size(); ++i) {
    const Volume one = charged(*m_link, calls.calls[i], calls.found[i], rank(), size());
    sum.busiest += one.busiest;
    sum.steps += one.steps;
  }
  begin = std::max({begin, m_link->out, m_link->in, m_link->collectives});
  m_link->out = m_link->in = begin + duration_of(m_link->seconds(sum.busiest, 0));
  calls.times.finished = m_link->collectives = begin + duration_of(m_link->seconds(sum.busiest, sum.steps));
  calls.exec = Exec();  // the pool keeps the calls, perhaps for longer than the caller keeps its stream
}

Completion Throttled::start_messages(const Exec& exec, std::span<const Call> together) {
  auto operation = m_messages.take(together.size());
  operation->times.started = operation->times.finished = Clock::now();
  for (const Call& call : together) {
    auto message = std::make_shared<EmulatedMessages::Message>();
    message->call = call;
    message->link = m_link;
    if (const auto* send = std::get_if<Send>(&call)) {
      require(m_inner->concurrent(),
              "{}: over an emulated link messages leave from a thread of their own, which needs MPI_THREAD_MULTIPLE; "
              "this MPI does not offer it; use a reducer without messages between two ranks, such as allreduce",
              m_inner->name());
      const Clock::time_point begin = std::max(Clock::now(), m_link->out);
      m_link->out = begin + duration_of(m_link->seconds(send->bytes, 0));
      message->ready.record(exec);
      const Clock::time_point due = begin + duration_of(m_link->seconds(send->bytes, 1));
      message->departure = m_timer.at(due, [this, exec, held = message] {
        held->ready.wait();
        held->inner = m_inner->start(exec, held->call);
      });
    } else {
      message->inner = m_inner->start(exec, call);
    }
    operation->messages.push_back(std::move(message));
  }
  return Completion(std::move(operation));
}

bool EmulatedMessages::land(std::size_t index, bool block) {
  Message& message = *messages[index];
  if (message.landed) return true;
  if (message.departure) {
    if (!message.departure->done(block)) return false;
  }
  if (block) {
    message.inner.wait();
  } else if (!message.inner.test()) {
    return false;
  }
  message.landed = true;
  found[index] = message.inner.found();
  Clock::time_point end = message.inner.times().finished;
  if (std::holds_alternative<Receive>(message.call)) {
    SharedLink& link = *message.link;
    end = std::max(end, link.in + duration_of(link.seconds(found[index].bytes, 0)));
    link.in = end;
  }
  times.finished = std::max(times.finished, end);
  return true;
}

}  // namespace
}  // namespace comm

std::unique_ptr<Transport> make_throttled(std::unique_ptr<Transport> inner, const Link& link, double limit_seconds) {
  return make_throttled(std::move(inner), std::make_shared<const Link>(link), limit_seconds);
}

std::unique_ptr<Transport> make_throttled(std::unique_ptr<Transport> inner, std::shared_ptr<const Link> link,
                                          double limit_seconds) {
  require(!inner->overlaps(), "{}: an emulated link needs a transport that does not overlap by itself", inner->name());
  auto shared = std::make_shared<comm::SharedLink>();
  shared->given = std::move(link);
  return std::make_unique<comm::Throttled>(make_limited(std::move(inner), limit_seconds), std::move(shared));
}

}  // namespace gradcomp
