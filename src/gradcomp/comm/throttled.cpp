#include "gradcomp/comm/throttled.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <utility>

#include "gradcomp/comm/detail/emulated_messages.hpp"
#include "gradcomp/comm/queued.hpp"
#include "gradcomp/core/read_back.hpp"

namespace gradcomp {
namespace comm {

Volume faster_volume(const Link& link, const Call& call, const Found& found, int rank, int ranks) {
  const Volume max_bandwidth = volume(call, found, rank, ranks), min_steps = fewest_steps(call, found, rank, ranks);
  const auto seconds = [&](const Volume& v) { return link.seconds(v.busiest, v.steps); };
  return seconds(min_steps) < seconds(max_bandwidth) ? min_steps : max_bandwidth;
}

namespace {

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

class Throttled final : public Transport {
 public:
  Throttled(std::unique_ptr<Transport> inner, std::shared_ptr<EmulatedLink> link)
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
  std::unique_ptr<Transport> split(int color, int key) override {
    while (!m_waiting.empty()) carry_next();
    return std::make_unique<Throttled>(m_inner->split(color, key), m_link);
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
  std::shared_ptr<EmulatedLink> m_link;
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
    const Volume least = sized ? barrier_volume(size()) : faster_volume(*m_link->given, call, {}, rank(), size());
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
  Kokkos::deep_copy(exec, m_time, host);
  run(*m_inner, exec, AllReduce{m_time.data(), m_time.data(), 1, DType::i64, ReduceOp::max});
  Kokkos::deep_copy(exec, host, m_time);
  wait(exec, "gradcomp::comm::latest_start");  // not for the whole device
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
    const Volume one = faster_volume(*m_link->given, calls.calls[i], calls.found[i], rank(), size());
    sum.busiest += one.busiest;
    sum.steps += one.steps;
  }
  begin = std::max({begin, m_link->out, m_link->in, m_link->collectives});
  m_link->out = m_link->in = begin + duration_of(m_link->seconds(sum.busiest, 0));
  calls.times.finished = m_link->collectives = begin + duration_of(m_link->seconds(sum.busiest, sum.steps));
  calls.exec = Exec();  // the pool keeps the calls, perhaps for longer than the caller keeps its stream
}

Completion Throttled::start_messages(const Exec& exec, std::span<const Call> together) {
  auto messages = m_messages.take(together.size());
  messages->times.started = messages->times.finished = Clock::now();
  for (const Call& call : together) messages->add(exec, call, *m_inner, m_link, m_timer);
  return Completion(std::move(messages));
}

}  // namespace
}  // namespace comm

std::unique_ptr<Transport> make_throttled(std::unique_ptr<Transport> inner, const Link& link, double limit_seconds) {
  return make_throttled(std::move(inner), std::make_shared<const Link>(link), limit_seconds);
}

std::unique_ptr<Transport> make_throttled(std::unique_ptr<Transport> inner, std::shared_ptr<const Link> link,
                                          double limit_seconds) {
  require(!inner->overlaps(), "{}: an emulated link needs a transport that does not overlap by itself", inner->name());
  auto shared = std::make_shared<comm::EmulatedLink>();
  shared->given = std::move(link);
  return std::make_unique<comm::Throttled>(make_limited(std::move(inner), limit_seconds), std::move(shared));
}

}  // namespace gradcomp
