#include "gradcomp/exchange/sender.hpp"

#include <utility>

namespace gradcomp {

MessageBytes& MessageBytes::operator+=(const MessageBytes& other) {
  payload += other.payload;
  header += other.header;
  return *this;
}

MessageBytes bytes_of(const Message& message) {
  const bool has_header = message.kind == MessageKind::bytes && message.size > 0;
  const index_t header = has_header ? payload_header_bytes : 0;
  return {message.bytes() - header, header};
}

namespace {

index_t count_of(const std::vector<Stripe>& stripes) {
  return stripes.empty() ? 0 : stripes.back().first + stripes.back().count();
}

}  // namespace

Sender::Sender(const MethodSpec& method, const Layout& layout, const FaultCounts& faults)
    : Sender(method, std::vector<Stripe>{{0, layout}}, faults) {}

Sender::Sender(const MethodSpec& method, std::vector<Stripe> stripes, const FaultCounts& faults)
    : m_compressor(method.compressor),
      m_stripes(std::move(stripes)),
      m_count(count_of(m_stripes)),
      m_feedback(method.common, m_count),
      m_messages(m_stripes.size()) {
  m_step.faults = faults;
  for (const Stripe& stripe : m_stripes) m_states.push_back(m_compressor->prepare(stripe.layout));
}

void Sender::begin(const Exec& exec, const Span<const float>& gradient, const Span<float>& mean,
                   const Context& context) {
  m_feedback.follow_rate(exec, context.rate);
  m_step.source = m_feedback.source(exec, gradient, context.ranks);
  m_step.mean = mean;
  m_step.context = context;
  m_bytes = {};
}

const Message& Sender::produce(const Exec& exec, int round, std::size_t stripe) {
  Step step = m_step;
  if (m_stripes.size() > 1) {
    step.source = part_of(m_step.source, m_stripes[stripe]);
    step.mean = part_of(m_step.mean, m_stripes[stripe]);
  }
  m_messages[stripe] = m_compressor->produce(exec, round, step, *m_states[stripe]);
  m_bytes += bytes_of(m_messages[stripe]);
  return m_messages[stripe];
}

void Sender::consume(const Exec& exec, int round) {
  m_compressor->consume(exec, round, m_messages[0], m_step, *m_states[0]);
}

void Sender::finish(const Exec& exec) { m_compressor->finish(exec, m_step, *m_states[0]); }

void Sender::forget(const Exec& exec) {
  for (const MemoryView& memory : m_feedback.memories()) clear(exec, memory);
}

Span<const std::byte> Sender::payload(std::size_t stripe) const {
  return Span<const std::byte>(m_messages[stripe].payload.data(), static_cast<std::size_t>(m_messages[stripe].size));
}

Memories Sender::memories() {
  Memories all = m_feedback.memories();
  for (std::size_t s = 0; s < m_states.size(); ++s) {
    for (MemoryView& memory : m_states[s]->memories()) {
      if (m_states.size() > 1) memory.name = fmt::format("stripe{}/{}", s, memory.name);
      all.push_back(std::move(memory));
    }
  }
  return all;
}

index_t Sender::work_bytes() const {
  index_t sum = m_feedback.scratch_bytes();
  for (const auto& state : m_states) sum += state->scratch_bytes();
  return sum;
}

}  // namespace gradcomp
