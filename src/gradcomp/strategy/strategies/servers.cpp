// servers: parameter servers (Li et al., OSDI 2014). Every rank is a worker. The first `servers` ranks (0: all ranks)
// also hold a part of the parameters each, of about equal bytes, with the optimiser's memories of it. dedicated=on: the
// last `servers` ranks only serve. A worker pushes its compressed gradient to all servers and waits for their answers,
// the parameters of its next step. W is the number of workers.
//
//   mode=sync     servers apply the mean over all workers once all have pushed: the step of the strategy overlapped,
//                 with the sum in rank order
//   mode=async    servers apply each worker's gradient when it arrives, with rate / W, and answer at once (Recht et
//                 al., Hogwild!, NeurIPS 2011; Dean et al., NeurIPS 2012). damped=on divides this rate by
//                 max(1, staleness); staleness is the number of updates since the gradient's parameters were given out
//                 (Zhang et al., IJCAI 2016)
//   mode=bounded  as async, but a worker that is more than `bound` steps ahead of the slowest waits for its answer
//                 (stale synchronous parallel; Ho et al., NeurIPS 2013)
//
// answers=coded compresses answers too. A server knows what the worker holds and codes the change of it. The worker's
// parameters are then an estimate, and the servers' own parameters are evaluated.
//
// A gradient that is not finite becomes an empty push that still counts as a step. Servers then update nothing more and
// say so in their answers: with mode=sync all ranks learn it in the same step, otherwise each with an answer or a push.
// A server works on its rank's own thread, between the layers of forward and backward and while the rank waits.
// mode=sync gives the same bits in every run; the other modes do not.
//
// Reported bytes: what this rank pushes, and what its server answers; an answer to all workers counts once. What
// drain() moves is not counted: farewells, answers given after this worker's last step, and the parameters for an
// evaluation.
#include <utility>

#include "gradcomp/comm/agree.hpp"
#include "gradcomp/comm/queued.hpp"
#include "gradcomp/strategy/detail/progress_until.hpp"
#include "gradcomp/strategy/detail/server_client.hpp"
#include "gradcomp/strategy/detail/server_keys.hpp"
#include "gradcomp/strategy/strategies/overlapped.hpp"
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::strategies {
namespace {

ServerRule rule_of(const ParameterValues& own) {
  const std::string& mode = own.text("mode");
  ServerRule rule;
  rule.together = mode == "sync";
  if (mode == "bounded") rule.bound = own.integer("bound");
  rule.damped = own.text("damped") == "on";
  rule.coded = own.text("answers") == "coded";
  return rule;
}

void check_setup(const StrategySetup& setup) {
  const std::string refused = refuses_push(setup.method);
  require(refused.empty(), "method '{}', strategy servers: {}", setup.method.text, refused);
  require(setup.job.update.clip == 0,
          "strategy servers: no server knows the norm of the whole mean; allowed: --clip 0");
  const bool dense = setup.method.compressor->info().family == Info::Family::control;
  require(!dense || setup.own.text("answers") == "dense",
          "method '{}', strategy servers: answers=coded needs a method that sends bytes; allowed: answers=dense",
          setup.method.text);
  const index_t servers = setup.own.integer("servers"), ranks = setup.transport.size();
  require(servers <= ranks, "strategy servers: servers={} on {} ranks; allowed: at most as many servers as ranks",
          servers, ranks);
  const bool apart = setup.own.text("dedicated") == "on";
  require(!apart || (servers >= 1 && servers < ranks),
          "strategy servers: dedicated=on with servers={} on {} ranks: some ranks must serve and some must train; "
          "allowed: servers=1 to {}, on 2 ranks or more",
          servers, ranks, std::max<index_t>(1, ranks - 1));
}

ServerPlaces places_of(const ParameterValues& own, int ranks) {
  const auto servers = static_cast<int>(own.integer("servers"));
  if (own.text("dedicated") == "on") return {ranks - servers, servers, ranks - servers};
  return {ranks, servers == 0 ? ranks : servers, 0};
}

class Servers final : public Strategy {
 public:
  /// The strategy is the only user of `transport`.
  Servers(const StrategySetup& setup, std::unique_ptr<CountingTransport> transport)
      : m_together(rule_of(setup.own).together),
        m_limit_seconds(setup.job.exchange.limit_seconds),
        m_agreed("gradcomp::strategy::servers::agreed", static_cast<std::size_t>(setup.layout.count())),
        m_places(places_of(setup.own, transport->size())),
        m_keys(server_keys(setup.method, setup.layout, m_places.servers)),
        m_transport(std::move(transport)) {
    const ServerRule rule = rule_of(setup.own);
    const std::uint64_t seed = setup.job.exchange.seed;
    const int rank = m_transport->rank();
    if (m_places.serves(rank)) {
      const Stripe& own = m_keys[static_cast<std::size_t>(m_places.server_on(rank))];
      m_server = std::make_unique<ParameterServer>(setup.method, own, tensors_of(setup.layout, own), setup.job.update,
                                                   *m_transport, m_places, rule, m_faults, seed);
    }
    if (m_places.trains(rank)) {
      m_client = std::make_unique<ServerClient>(setup.method, m_keys, rule.coded, *m_transport, m_places,
                                                m_server.get(), m_faults, seed);
    }
  }

  std::string name() const override { return "servers"; }
  int dedicated_ranks() const override { return m_transport->size() - m_places.workers; }
  bool in_step() const override { return m_together; }

  void begin(const Exec& exec, const StepContext& context) override;
  void before_layer(const Exec& exec, std::size_t) override { progress(exec); }
  void gradient_ready(const Exec&, std::size_t) override {}
  index_t diverged() override;
  bool progress(const Exec& exec) override { return m_server && m_server->serve(exec); }
  StepReport end(const Exec& exec, const Idle& idle) override;
  void wait_for_others(const Exec& exec) override;
  StepReport drain(const Exec& exec) override;
  Span<const float> agreed(const Span<const float>& parameters) const override {
    return m_counters.steps == 0 ? parameters : Span<const float>(m_agreed);
  }
  Memories memories() override;
  index_t work_bytes() const override {
    return (m_client ? m_client->work_bytes() : 0) + (m_server ? m_server->work_bytes() : 0);
  }

 private:
  void train(const Exec& exec, const Idle& idle);
  void serve_a_round(const Exec& exec);
  StepReport report();
  index_t sent() const { return m_transport->ledger().total().sent; }
  [[noreturn]] void give_up(const char* what) {
    m_transport->abandon();
    throw Error(
        fmt::format("strategy servers: {} did not arrive within {} s; a peer is gone or hangs", what, m_limit_seconds));
  }

  /// Numbers that a checkpoint holds as they are.
  struct Counters {
    index_t steps = 0;
  };

  bool m_together;
  double m_limit_seconds;
  Faults m_faults;
  Vector<float> m_agreed;  ///< the servers' parameters at the last drain(); work space between drains
  ServerPlaces m_places;
  std::vector<Stripe> m_keys;
  std::unique_ptr<ParameterServer> m_server;       ///< of this rank; null if it has none
  std::unique_ptr<ServerClient> m_client;          ///< null on a rank that only serves
  std::unique_ptr<CountingTransport> m_transport;  ///< behind the buffers that it uses, so that it is destroyed first
  StepContext m_now;
  Counters m_counters;
  bool m_open = false;         ///< there were steps since the last wait_for_others()
  bool m_met = false;          ///< there was a wait_for_others() since the last drain(): m_agreed is not shared yet
  index_t m_sent_before = 0;   ///< wire bytes before this step
  index_t m_diverged_at = -1;  ///< the step in which this rank learned it
};

void Servers::begin(const Exec& exec, const StepContext& context) {
  m_now = context;
  if (m_server) {
    if (m_counters.steps == 0) m_server->start(exec, part_of(context.parameters, m_server->keys()));
    if (!m_open) m_server->open(exec);  // only once: some workers may already have said farewell
    m_server->note_in(context.timeline);
  }
  m_open = true;
}

/// Pushes the gradient and waits for the parameters.
void Servers::train(const Exec& exec, const Idle& idle) {
  m_client->push(exec, m_now, m_agreed);
  const double begin = now_seconds();
  const bool answered = progress_until(
      m_now.timeline, m_limit_seconds, [&] { return m_client->all_answered(); },
      [&] { return m_client->take_answers(exec, m_now) || progress(exec) || (idle && idle()); });
  if (!answered) give_up("an answer");
  if (m_now.timeline != nullptr) m_now.timeline->add(Stage::exchange, begin, now_seconds());
  m_client->settle();
}

/// On a rank that only serves, a step is one push of every worker. The wait for it is not counted as exchange.
void Servers::serve_a_round(const Exec& exec) {
  const bool came =
      progress_until(nullptr, m_limit_seconds, [&] { return m_server->take_round(); }, [&] { return progress(exec); });
  if (!came) give_up("a push");
}

StepReport Servers::end(const Exec& exec, const Idle& idle) {
  if (m_client) {
    train(exec, idle);
  } else {
    serve_a_round(exec);
  }
  if (m_together && m_server) m_server->flush();  // the other modes count a late answer with the next step
  ++m_counters.steps;
  return report();
}

StepReport Servers::report() {
  StepReport report;
  MessageBytes bytes;
  if (m_client) {
    bytes = m_client->bytes();
    append_density(m_client->sender(), report.density_ratio);
  }
  if (m_server) {
    bytes += m_server->take_bytes();
    report.staleness = m_server->take_staleness();
  }
  report.payload_bytes = bytes.payload;
  report.header_bytes = bytes.header;
  const index_t all = sent();
  report.wire_bytes = all - std::exchange(m_sent_before, all);
  return report;
}

void Servers::wait_for_others(const Exec& exec) {
  if (!std::exchange(m_open, false)) return;
  m_now.timeline = nullptr;
  if (m_server) m_server->note_in(nullptr);
  const index_t before = sent();
  if (m_client) m_client->say_farewell(exec);
  if (m_server) {
    const bool gone =
        progress_until(nullptr, m_limit_seconds, [&] { return m_server->all_gone(); }, [&] { return progress(exec); });
    if (!gone) give_up("a worker's last push");
    m_server->flush();
    Kokkos::deep_copy(exec, part_of(Span<float>(m_agreed), m_server->keys()), m_server->parameters());
  }
  if (m_client) m_client->settle();  // nobody waits for this rank any more
  m_sent_before += sent() - before;
  m_met = true;
}

/// Together, every server has seen the same pushes in this step. Otherwise ranks learn it with an answer or a push.
index_t Servers::diverged() {
  const bool known = (m_client && m_client->diverged()) || (m_server && m_server->diverged());
  if (known && m_diverged_at < 0) m_diverged_at = m_now.step;
  return m_diverged_at;
}

StepReport Servers::drain(const Exec& exec) {
  wait_for_others(exec);
  m_faults.fetch(exec);
  m_faults.diverged();  // throws if a message was broken
  if (!std::exchange(m_met, false)) return {};
  const index_t before = sent();
  for (std::size_t s = 0; s < m_keys.size(); ++s) {
    const Span<float> part = part_of(Span<float>(m_agreed), m_keys[s]);
    run(*m_transport, exec, Broadcast{part.data(), m_keys[s].count(), DType::f32, m_places.rank_of(s)});
  }
  m_sent_before += sent() - before;
  return {};
}

Memories Servers::memories() {
  Memories all = m_client ? m_client->memories() : Memories{};
  all.push_back(memory_of(Role::strategy, m_agreed, "agreed"));
  all.push_back({"steps", &m_counters, sizeof m_counters, true, Role::strategy, -1});
  if (!m_server) return all;
  for (MemoryView& memory : m_server->memories()) all.push_back(std::move(memory));
  return all;
}

/// For a method that sends nothing: every rank updates its own parameters.
std::unique_ptr<Strategy> without_exchange(const StrategySetup& setup) {
  const StrategyEntry plain = strategies::overlapped();
  const ParameterValues defaults("strategy overlapped", plain.parameters, {});
  return plain.make({setup.method, setup.layout, setup.buffers, setup.transport, setup.job, defaults});
}

}  // namespace

StrategyEntry servers() {
  return {
      "servers",
      "parameter servers on some or all ranks: synchronous, asynchronous, or with bounded staleness",
      {Parameter::choice("mode", "sync", {"sync", "async", "bounded"}, "when servers update and answer"),
       Parameter::integer("servers", "0", 0, 1 << 20, "ranks with a part of the parameters; 0: all"),
       Parameter::choice("dedicated", "off", {"off", "on"}, "the servers are the last ranks, and train on no batches"),
       Parameter::integer("bound", "1", 0, 1000000, "mode=bounded: steps ahead of the slowest worker"),
       Parameter::choice("damped", "off", {"off", "on"}, "rate / max(1, staleness); mode=async and bounded"),
       Parameter::choice("answers", "dense", {"dense", "coded"}, "parameters, or their compressed changes")},
      [](const StrategySetup& setup) -> std::unique_ptr<Strategy> {
        if (!setup.method.compressor->info().travels) return without_exchange(setup);
        run_collectively(setup.transport, [&] { check_setup(setup); });
        require_same_exchange(setup.method, setup.layout, setup.transport, setup.job.exchange, "servers");
        auto own = setup.transport.split(0, setup.transport.rank());
        std::unique_ptr<Strategy> servers;
        run_collectively(setup.transport, [&] {
          own = make_limited(std::move(own), setup.job.exchange.limit_seconds);
          servers = std::make_unique<Servers>(setup, make_counting(std::move(own)));
        });
        return servers;
      }};
}

}  // namespace gradcomp::strategies
