#include "gradcomp/exchange/one_rank.hpp"

#include "gradcomp/comm/transports/self.hpp"
#include "gradcomp/exchange/detail/refusals.hpp"

namespace gradcomp {
namespace {

/// The method with a reducer that works on a single rank.
MethodSpec alone(const MethodSpec& method) {
  const Info& info = method.compressor->info();
  MethodSpec spec = method;
  std::map<std::string, std::string> given;
  for (const Parameter& p : feedback_parameters(info)) given[p.name] = method.common.text(p.name);
  given["granularity"] = method.common.text("granularity");
  given["reducer"] = sends_bytes(info) ? "allgather" : info.travels ? "allreduce" : "local";
  spec.common = ParameterValues("one rank", common_parameters(info), given);
  return spec;
}

}  // namespace

OneRank::OneRank(const MethodSpec& method, const Layout& layout, std::uint64_t seed)
    : m_gathered(sends_bytes(method.compressor->info())),
      m_seed(seed),
      m_self(make_self()),
      m_reduction(alone(method), layout, *m_self, m_faults),
      m_receiver(m_reduction.sender().compressor(), m_reduction.sender().state()),
      m_out("gradcomp::exchange::one_rank::out", static_cast<std::size_t>(layout.count())),
      m_has_state(!m_reduction.sender().state().memories().empty()) {}

void OneRank::add_sender() {
  if (!m_gathered) return;
  const Span<const std::byte> message = sender().payload();
  Vector<std::byte> copy("gradcomp::exchange::one_rank::message", message.size());
  Kokkos::deep_copy(copy, message);
  m_others.push_back(copy);
}

void OneRank::launch(const Exec& exec) {
  if (m_gathered) {
    sender().produce(exec, 0);
  } else {
    m_reduction.launch(exec);
  }
  if (m_seen) m_seen(sender().message());
}

void OneRank::compress(const Exec& exec, const Span<const float>& gradient, std::int64_t step) {
  m_timeline.begin_step(exec);  // on a device, the times of stages are relative to its event
  m_reduction.begin(exec, gradient, m_out, {m_seed, step, 0, 1}, &m_timeline);
  m_step = step;
  for (int round = 0; round < m_reduction.rounds(); ++round) {
    if (round > 0) m_reduction.complete(exec);
    launch(exec);
  }
}

void OneRank::decompress(const Exec& exec) {
  m_timeline.begin_step(exec);
  if (m_gathered) {
    const float weight = 1.0f / static_cast<float>(senders());
    m_messages.assign(1, {sender().payload(), sender().context(), weight, m_faults.counts()});
    for (const auto& other : m_others) m_messages.push_back({other, sender().context(), weight, m_faults.counts()});
    m_receiver.sum(exec, m_messages, m_out);
  } else {
    m_reduction.complete(exec);
    sender().finish(exec);
  }
  m_faults.fetch(exec);
  if (m_faults.diverged()) {
    throw DivergedError(fmt::format("{}: step {}: the gradient, or what the method makes of it, is not finite",
                                    sender().compressor().info().name, m_step));
  }
}

double OneRank::take_exchange_seconds() {
  m_timeline.end_step();
  const double seconds = m_timeline.exposed_seconds().values().back();
  m_timeline.clear();
  return seconds;
}

Span<const float> OneRank::memory() const {
  return Span<const float>(sender().source_of({}, {}, 1).memory, m_out.size());
}

index_t OneRank::bytes() {
  return m_reduction.work_bytes() + bytes_of(m_reduction.memories()) + 4 * static_cast<index_t>(m_out.size());
}

Layout layer_like(index_t elements) {
  index_t columns = 1;
  while (4 * columns * columns <= elements) columns *= 2;
  Layout layout;
  if (columns > 1) layout.add("matrix", {elements / columns, columns});
  if (const index_t rest = elements - layout.count(); rest > 0 || layout.segments.empty()) layout.add("rest", {rest});
  return layout;
}

}  // namespace gradcomp
