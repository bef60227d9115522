#include "gradcomp/comm/transports/callbacks.hpp"

#include <thread>

#include "gradcomp/comm/detail/copy.hpp"
#include "gradcomp/core/event.hpp"

namespace gradcomp {
namespace comm {
namespace {

class CalledBack final : public Operation {
 public:
  void reset() {
    ended.clear();
    exec = Exec();
  }
  /// When it returns for the first time, all calls have begun: a call that waits for a peer delays no other.
  bool test() override {
    ended.resize(calls.size());
    bool all = true;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      ended[i] = ended[i] || functions->carry(exec, calls[i], found[i]);
      all = all && ended[i];
    }
    if (all && times.finished == Clock::time_point{}) {
      times.finished = Clock::now();
      exec = Exec();  // the pool keeps this object, perhaps for longer than the caller keeps its stream
    }
    return all;
  }
  void wait() override {
    while (!test()) std::this_thread::yield();
  }

  std::shared_ptr<const Callbacks> functions;
  Exec exec;
  std::vector<Call> calls;
  std::vector<bool> ended;
};

class CallbackTransport final : public Transport {
 public:
  explicit CallbackTransport(Callbacks functions)
      : m_functions(std::make_shared<const Callbacks>(std::move(functions))) {
    require(m_functions->carry != nullptr, "transport {}: there is no function that carries a call", name());
  }

  int rank() const override { return m_functions->rank; }
  int size() const override { return m_functions->size; }
  std::string name() const override { return m_functions->name; }
  bool overlaps() const override { return m_functions->overlaps; }
  bool concurrent() const override { return m_functions->concurrent; }

  Completion start(const Exec& exec, std::span<const Call> together) override {
    auto group = m_pool.take(together.size());
    group->functions = m_functions;
    group->exec = exec;
    group->calls.assign(together.begin(), together.end());
    for (const Call& call : together) check_call(call, size());
    Event earlier;
    earlier.record(exec);
    earlier.wait();
    group->times.started = Clock::now();
    group->test();
    for (std::size_t i = 0; i < together.size(); ++i) {
      require(group->ended[i] || overlaps() || is_point_to_point(together[i]),
              "transport {}: {} was not carried to its end", name(), name_of(together[i]));
    }
    return Completion(std::move(group));
  }
  std::unique_ptr<Transport> split(int color, int key) override {
    require(m_functions->split != nullptr, "transport {}: it cannot be split", name());
    return make_callbacks(m_functions->split(color, key));
  }

 private:
  std::shared_ptr<const Callbacks> m_functions;
  OperationPool<CalledBack> m_pool;
};

}  // namespace
}  // namespace comm

std::unique_ptr<Transport> make_callbacks(Callbacks callbacks) {
  return std::make_unique<comm::CallbackTransport>(std::move(callbacks));
}

TransportEntry transports::callbacks() {
  return {"callbacks",
          "the caller's own functions",
          {},
          [](const std::any& owned, const ParameterValues&) {
            const auto* functions = std::any_cast<Callbacks>(&owned);
            require(functions != nullptr, "transport callbacks: it needs the caller's functions (Callbacks)");
            return make_callbacks(*functions);
          },
          false};
}

}  // namespace gradcomp
