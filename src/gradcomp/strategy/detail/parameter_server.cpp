#include "gradcomp/strategy/detail/parameter_server.hpp"

#include <algorithm>

namespace gradcomp {
namespace {
using Kind = PushHeader::Kind;
}

ParameterServer::ParameterServer(const MethodSpec& method, const Stripe& keys, const Layout& tensors,
                                 const UpdateOptions& update, Transport& transport, const ServerPlaces& places,
                                 const ServerRule& rule, const Faults& faults, std::uint64_t seed)
    : m_keys(keys),
      m_rule(rule),
      m_own(static_cast<std::size_t>(transport.rank())),
      m_seed(seed),
      m_receiver(*method.compressor, keys.layout),
      m_updater(tensors, {keys.count()}, update),
      m_parameters("gradcomp::strategy::servers::parameters", static_cast<std::size_t>(keys.count())),
      m_mean("gradcomp::strategy::servers::mean", m_parameters.size()),
      m_faults(faults.counts()),
      m_clocks(places.workers, rule.bound),
      m_answers(method, keys, rule.coded, rule.together, places.server_on(transport.rank()), places.workers, seed),
      m_pushes(static_cast<std::size_t>(places.workers)),
      m_waiting(m_pushes.size(), 0),
      m_gone(m_pushes.size(), 1),
      m_expected(m_pushes.size()),
      m_sent(m_pushes.size()),
      m_transport(transport) {
  for (std::size_t w = 0; w < m_pushes.size(); ++w) {
    m_inbox.push_back(
        message_room("gradcomp::strategy::servers::inbox", push_capacity(*method.compressor, keys.layout)));
  }
}

void ParameterServer::start(const Exec& exec, const Span<const float>& parameters) {
  Kokkos::deep_copy(exec, m_parameters, parameters);
  m_answers.start(exec, parameters);
}

void ParameterServer::open(const Exec& exec) {
  for (std::size_t w = 0; w < workers(); ++w) {
    if (std::exchange(m_gone[w], std::uint8_t{0}) != 0 && w != m_own) expect(exec, w);
  }
}

void ParameterServer::expect(const Exec& exec, std::size_t worker) {
  const Vector<std::byte>& room = m_inbox[worker];
  m_expected[worker] = m_transport.start(
      exec, Receive{room.data(), static_cast<index_t>(room.size()), static_cast<int>(worker), push_tag});
}

bool ParameterServer::serve(const Exec& exec) {
  bool came = false;
  for (std::size_t w = 0; w < workers(); ++w) {
    if (w == m_own || m_gone[w] != 0 || m_waiting[w] != 0 || !m_expected[w].test()) continue;
    m_expected[w].order(exec);
    came = true;
    arrived(exec, w);
  }
  return came;
}

bool ParameterServer::all_gone() const {
  return std::all_of(m_gone.begin(), m_gone.end(), [](std::uint8_t gone) { return gone != 0; });
}

bool ParameterServer::take_round() {
  const auto all = static_cast<index_t>(workers());
  if (m_arrived < all) return false;
  m_arrived -= all;
  return true;
}

void ParameterServer::flush() {
  for (Completion& sent : m_sent) {
    if (sent.valid()) sent.wait();
  }
}

void ParameterServer::arrived(const Exec& exec, std::size_t worker) {
  const auto push = m_pushes[worker] = get_header<PushHeader>(exec, m_inbox[worker]);
  require(push.bytes >= 0 && push.bytes + block_alignment <= static_cast<index_t>(m_inbox[worker].size()),
          "strategy servers: a push of {} bytes from rank {} does not fit its room", push.bytes, worker);
  if (push.kind == Kind::farewell) {
    m_gone[worker] = 1;
    return;
  }
  ++m_arrived;
  m_clocks.tick(static_cast<int>(worker));
  m_waiting[worker] = 1;
  if (m_rule.together) {
    const bool all = std::all_of(m_waiting.begin(), m_waiting.end(), [](std::uint8_t w) { return w != 0; });
    if (all) update_together(exec);
  } else {
    m_diverged = m_diverged || push.kind == Kind::diverged;
    update_by(exec, worker);
    answer_those_who_may_go(exec);
  }
}

void ParameterServer::decode(const Exec& exec, std::size_t worker, float weight) {
  const StageScope stage(exec, m_timeline, Stage::decompress);
  const PushHeader& push = m_pushes[worker];
  const Span<const std::byte> payload = body_of(m_inbox[worker], push.bytes);
  if (m_mean.size() == 0) return;
  if (push.dtype == PushHeader::in_bytes) {
    const Context sender{m_seed, push.step, static_cast<int>(worker), static_cast<int>(workers())};
    m_receiver.add(exec, {payload, sender, weight, m_faults}, m_mean);
  } else {
    add_dense(exec, static_cast<DType>(push.dtype), payload, weight, m_mean);
  }
}

void ParameterServer::apply(const Exec& exec, double rate) {
  const StageScope stage(exec, m_timeline, Stage::update);
  ++m_version;
  if (m_mean.size() > 0) m_updater.apply(exec, rate, m_parameters, m_mean);
}

/// Not before all have pushed does the server know that a gradient was not finite: a worker that is early may tell of
/// its next step.
void ParameterServer::update_together(const Exec& exec) {
  for (const PushHeader& push : m_pushes) m_diverged = m_diverged || push.kind == Kind::diverged;
  if (!m_diverged) {
    Kokkos::deep_copy(exec, m_mean, 0.0f);
    for (std::size_t w = 0; w < workers(); ++w) decode(exec, w, 1.0f / static_cast<float>(workers()));
    m_staleness.insert(m_staleness.end(), workers(), 0);
    apply(exec, m_pushes[0].rate);
  }
  flush();
  const index_t bytes = write_answer(exec, 0);
  for (std::size_t w = 0; w < workers(); ++w) send_answer(exec, w, bytes);
}

void ParameterServer::update_by(const Exec& exec, std::size_t worker) {
  if (m_diverged) return;
  const PushHeader& push = m_pushes[worker];
  const index_t late = m_version - push.version;
  m_staleness.push_back(late);
  Kokkos::deep_copy(exec, m_mean, 0.0f);
  decode(exec, worker, 1.0f);
  const double damping = m_rule.damped ? static_cast<double>(std::max<index_t>(1, late)) : 1.0;
  apply(exec, push.rate / (static_cast<double>(workers()) * damping));
}

void ParameterServer::answer_those_who_may_go(const Exec& exec) {
  for (std::size_t w = 0; w < workers(); ++w) {
    if (m_waiting[w] == 0 || (!m_diverged && !m_clocks.may_go(static_cast<int>(w)))) continue;
    if (m_sent[w].valid()) m_sent[w].wait();  // it has arrived: the worker has pushed since
    send_answer(exec, w, write_answer(exec, w));
  }
}

index_t ParameterServer::write_answer(const Exec& exec, std::size_t worker) {
  const StageScope stage(exec, m_timeline, Stage::compress);
  AnswerHeader header;
  header.version = m_version;
  header.diverged = m_diverged ? 1 : 0;
  return m_answers.write(exec, worker, m_parameters, header);
}

void ParameterServer::send_answer(const Exec& exec, std::size_t worker, index_t bytes) {
  m_waiting[worker] = 0;
  if (worker == m_own) {
    m_own_answered = true;
    return;
  }
  expect(exec, worker);  // the next push
  const Vector<std::byte>& room = m_answers.room(worker);
  m_sent[worker] = m_transport.start(exec, Send{room.data(), bytes, static_cast<int>(worker), answer_tag});
}

Memories ParameterServer::memories() {
  Memories all{memory_of(Role::strategy, m_parameters, "server/parameters")};
  for (MemoryView& memory : m_updater.memories()) {
    memory.name = "server/" + memory.name;
    all.push_back(std::move(memory));
  }
  for (MemoryView& memory : m_answers.memories()) all.push_back(std::move(memory));
  auto& clocks = m_clocks.values();
  all.push_back({"server/clocks", clocks.data(), static_cast<index_t>(clocks.size() * sizeof(index_t)), true,
                 Role::strategy, -1, [&] { return clocks.empty() || (is_count(clocks[0]) && m_clocks.gap() == 0); }});
  all.push_back({"server/version", &m_version, sizeof m_version, true, Role::strategy, -1,
                 [this] { return is_count(m_version); }});
  return all;
}

index_t ParameterServer::work_bytes() const {
  index_t sum = 4 * static_cast<index_t>(m_mean.size()) + m_answers.work_bytes();
  for (const auto& room : m_inbox) sum += static_cast<index_t>(room.size());
  return sum;
}

}  // namespace gradcomp
