#include "gradcomp/comm/counting.hpp"

#include <utility>

#include "gradcomp/comm/volume.hpp"

namespace gradcomp {
namespace comm {
namespace {

/// Adds its calls to the ledger when they have ended.
class CountedCalls final : public Operation {
 public:
  void reset() { m_booked = false; }
  void begin(Completion inner, std::span<const Call> calls, std::shared_ptr<Ledger> ledger, int rank, int ranks) {
    m_inner = std::move(inner);
    m_calls.assign(calls.begin(), calls.end());
    m_ledger = std::move(ledger);
    m_rank = rank;
    m_ranks = ranks;
  }
  bool test() override {
    if (!m_inner.test()) return false;
    book();
    return true;
  }
  void wait() override {
    m_inner.wait();
    book();
  }
  void order(const Exec& exec) override {
    m_inner.order(exec);
    book();
  }
  bool take_events(Event& begin, Event& end) override { return m_inner.take_events(begin, end); }

 private:
  void book() {
    times = m_inner.times();  // read each time: after order() they may be known later than the volumes
    if (std::exchange(m_booked, true)) return;
    found.assign(m_inner.all_found().begin(), m_inner.all_found().end());
    for (std::size_t i = 0; i < m_calls.size(); ++i) {
      const Volume moved = volume(m_calls[i], found[i], m_rank, m_ranks);
      m_ledger->add(m_calls[i].index(), {1, moved.sent, moved.received});
    }
  }

  Completion m_inner;
  std::vector<Call> m_calls;
  std::shared_ptr<Ledger> m_ledger;
  int m_rank = 0, m_ranks = 1;
  bool m_booked = false;
};

class Counting final : public CountingTransport {
 public:
  Counting(std::unique_ptr<Transport> inner, std::shared_ptr<Ledger> ledger)
      : m_inner(std::move(inner)), m_ledger(std::move(ledger)) {}

  const Ledger& ledger() const override { return *m_ledger; }
  int rank() const override { return m_inner->rank(); }
  int size() const override { return m_inner->size(); }
  int ranks_per_node() const override { return m_inner->ranks_per_node(); }
  std::string name() const override { return "counting/" + m_inner->name(); }
  bool overlaps() const override { return m_inner->overlaps(); }
  bool concurrent() const override { return m_inner->concurrent(); }

  Completion start(const Exec& exec, std::span<const Call> together) override {
    auto calls = m_pool.take(together.size());
    calls->begin(m_inner->start(exec, together), together, m_ledger, rank(), size());
    return Completion(std::move(calls));
  }
  void limit(double seconds) override { m_inner->limit(seconds); }
  void abandon() override { m_inner->abandon(); }
  std::unique_ptr<Transport> split(int color, int key) override {
    return std::make_unique<Counting>(m_inner->split(color, key), m_ledger);
  }

 private:
  std::unique_ptr<Transport> m_inner;
  std::shared_ptr<Ledger> m_ledger;
  OperationPool<CountedCalls> m_pool;
};

}  // namespace
}  // namespace comm

Traffic& Traffic::operator+=(const Traffic& other) {
  calls += other.calls;
  sent += other.sent;
  received += other.received;
  return *this;
}

Traffic Ledger::total() const {
  Traffic sum;
  for (const Traffic& one : m_traffic) sum += one;
  return sum;
}

std::unique_ptr<CountingTransport> make_counting(std::unique_ptr<Transport> inner) {
  return std::make_unique<comm::Counting>(std::move(inner), std::make_shared<Ledger>());
}

}  // namespace gradcomp
