#pragma once
// A transport that records when messages of this rank start, and when their end is noticed.
#include <functional>

#include "gradcomp/comm/transport.hpp"

namespace gradcomp::train::test {

struct Event {
  enum class What { sent, receive, send_ended, received, mark };
  What what = What::mark;
  int peer = 0, tag = 0;
};
using Events = std::vector<Event>;

class LoggedMessages final : public Operation {
 public:
  void reset() { inner = Completion(); }
  bool test() override {
    if (!inner.test()) return false;
    inner.wait();
    note();
    return true;
  }
  void wait() override {
    inner.wait();
    note();
  }
  void order(const Exec& exec) override {
    inner.order(exec);
    note();
  }

  Completion inner;
  Events ends;  ///< ends that are not recorded yet
  std::shared_ptr<Events> log;

 private:
  void note() {
    log->insert(log->end(), ends.begin(), ends.end());
    ends.clear();
    times = inner.times();
    const auto all = inner.all_found();
    std::copy(all.begin(), all.end(), found.begin());
  }
};

class Logged final : public Transport {
 public:
  /// `on_start` is called with each call before it starts.
  Logged(std::unique_ptr<Transport> inner, std::shared_ptr<Events> log, std::function<void(const Call&)> on_start = {})
      : m_inner(std::move(inner)), m_log(std::move(log)), m_on_start(std::move(on_start)) {}

  int rank() const override { return m_inner->rank(); }
  int size() const override { return m_inner->size(); }
  int ranks_per_node() const override { return m_inner->ranks_per_node(); }
  std::string name() const override { return m_inner->name(); }
  bool overlaps() const override { return m_inner->overlaps(); }
  bool concurrent() const override { return m_inner->concurrent(); }
  void abandon() override { m_inner->abandon(); }
  std::unique_ptr<Transport> split(int color, int key) override {
    return std::make_unique<Logged>(m_inner->split(color, key), m_log, m_on_start);
  }

  Completion start(const Exec& exec, std::span<const Call> together) override {
    Events ends;
    for (const Call& call : together) {
      if (m_on_start) m_on_start(call);
      if (const auto* send = std::get_if<Send>(&call)) {
        m_log->push_back({Event::What::sent, send->to, send->tag});
        ends.push_back({Event::What::send_ended, send->to, send->tag});
      } else if (const auto* receive = std::get_if<Receive>(&call)) {
        m_log->push_back({Event::What::receive, receive->from, receive->tag});
        ends.push_back({Event::What::received, receive->from, receive->tag});
      }
    }
    Completion inner = m_inner->start(exec, together);
    if (ends.empty()) return inner;  // collective calls, perhaps of another thread
    auto messages = m_pool.take(together.size());
    messages->inner = std::move(inner);
    messages->ends = std::move(ends);
    messages->log = m_log;
    return Completion(std::move(messages));
  }

 private:
  std::unique_ptr<Transport> m_inner;
  std::shared_ptr<Events> m_log;
  std::function<void(const Call&)> m_on_start;
  OperationPool<LoggedMessages> m_pool;
};

}  // namespace gradcomp::train::test
