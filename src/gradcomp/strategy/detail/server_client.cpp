#include "gradcomp/strategy/detail/server_client.hpp"

#include <algorithm>
#include <utility>

#include "gradcomp/kernels/select/scatter.hpp"

namespace gradcomp {
namespace {
using Kind = PushHeader::Kind;
}

ServerClient::ServerClient(const MethodSpec& method, std::vector<Stripe> keys, bool coded, Transport& transport,
                           const ServerPlaces& places, ParameterServer* own, const Faults& faults, std::uint64_t seed)
    : m_dense(method.compressor->info().family == Info::Family::control),
      m_seed(seed),
      m_sender(method, std::move(keys), faults.counts()),
      m_transport(transport),
      m_places(places),
      m_own(own),
      m_versions(m_sender.stripes().size(), 0),
      m_answered(m_versions.size(), 0),
      m_pushed(m_versions.size()),
      m_coming(m_versions.size()) {
  for (std::size_t s = 0; s < m_versions.size(); ++s) {
    const Stripe& part = m_sender.stripes()[s];
    m_receivers.emplace_back(m_sender.compressor(), m_sender.state(s));
    const index_t push = push_capacity(m_sender.compressor(), part.layout), answer = coded ? push : 4 * part.count();
    m_push.push_back(is_own(s) ? own->own_push() : message_room("gradcomp::strategy::servers::push", push));
    m_answer.push_back(is_own(s) ? own->own_answer() : message_room("gradcomp::strategy::servers::answered", answer));
  }
}

/// Makes all messages. Returns false if the gradient is not finite, so that they must not be sent.
bool ServerClient::compress(const Exec& exec, const StepContext& step, const Span<float>& scratch) {
  const StageScope stage(exec, step.timeline, Stage::compress);
  Context context = step.context(m_transport, m_seed);
  context.ranks = m_dense ? 1 : m_places.workers;  // dense: servers divide
  m_sender.begin(exec, step.gradient, scratch, context);
  bool good = !m_dense || kernels::count_non_finite(exec, step.gradient) == 0;
  for (std::size_t s = 0; s < keys().size(); ++s) {
    if (keys()[s].count() == 0) continue;
    m_sender.produce(exec, 0, s);
    if (!m_dense && read_header(exec, m_sender.payload(s)).diverged()) good = false;
  }
  return good;
}

void ServerClient::push(const Exec& exec, const StepContext& step, const Span<float>& scratch) {
  std::fill(m_answered.begin(), m_answered.end(), std::uint8_t{0});
  PushHeader header;
  if (!m_diverged) m_diverged = !compress(exec, step, scratch);
  header.kind = m_diverged ? Kind::diverged : Kind::gradient;
  header.step = step.step;
  header.rate = step.rate;
  const auto send_to = [&](std::size_t s) {
    header.version = m_versions[s];
    send(exec, s, header);
  };
  for (std::size_t s = 0; s < keys().size(); ++s) {
    if (!is_own(s)) send_to(s);
  }
  // Last, so that its update delays no other server.
  if (m_own != nullptr) send_to(static_cast<std::size_t>(m_places.server_on(m_transport.rank())));
}

void ServerClient::say_farewell(const Exec& exec) {
  for (std::size_t s = 0; s < keys().size(); ++s) send(exec, s, {Kind::farewell});
}

void ServerClient::send(const Exec& exec, std::size_t server, PushHeader header) {
  const Vector<std::byte>& room = m_push[server];
  if (m_pushed[server].valid()) m_pushed[server].wait();
  if (header.kind == Kind::gradient && keys()[server].count() > 0) {
    const Message& message = m_sender.message(server);
    if (m_dense) header.dtype = static_cast<std::int32_t>(message.dtype);
    header.bytes = message.bytes();
    const auto* data = m_dense ? static_cast<const std::byte*>(message.data) : message.payload.data();
    require(header.bytes + block_alignment <= static_cast<index_t>(room.size()),
            "strategy servers: a push of {} bytes does not fit its room of {}", header.bytes, room.size());
    Kokkos::deep_copy(exec, body_of(room, header.bytes),
                      Span<const std::byte>(data, static_cast<std::size_t>(header.bytes)));
  }
  put_header(exec, room, header);
  if (is_own(server)) {
    m_own->take_own(exec);
    return;
  }
  const int to = m_places.rank_of(server);
  if (header.kind != Kind::farewell) {
    const Vector<std::byte>& answer = m_answer[server];
    m_coming[server] =
        m_transport.start(exec, Receive{answer.data(), static_cast<index_t>(answer.size()), to, answer_tag});
  }
  m_pushed[server] = m_transport.start(exec, Send{room.data(), block_alignment + header.bytes, to, push_tag});
}

bool ServerClient::take_answers(const Exec& exec, const StepContext& step) {
  bool came = false;
  for (std::size_t s = 0; s < keys().size(); ++s) {
    if (m_answered[s] != 0) continue;
    const bool here = is_own(s) ? m_own->own_answered() : m_coming[s].test();
    if (!here) continue;
    if (!is_own(s)) m_coming[s].order(exec);
    const StageScope stage(exec, step.timeline, Stage::decompress);
    take_answer(exec, s, part_of(step.parameters, keys()[s]));
    came = true;
  }
  return came;
}

void ServerClient::take_answer(const Exec& exec, std::size_t server, const Span<float>& parameters) {
  const auto header = get_header<AnswerHeader>(exec, m_answer[server]);
  require(header.bytes >= 0 && header.bytes + block_alignment <= static_cast<index_t>(m_answer[server].size()),
          "strategy servers: an answer of {} bytes from rank {} does not fit its room", header.bytes, server);
  m_answered[server] = 1;
  m_versions[server] = header.version;
  if (header.diverged != 0) m_diverged = true;
  if (header.bytes == 0) return;
  const Span<const std::byte> body = body_of(m_answer[server], header.bytes);
  if (header.dtype == PushHeader::in_bytes) {
    const Context sender{m_seed, header.version, header.stream, m_places.workers};
    m_receivers[server].add(exec, {body, sender, 1.0f, m_sender.faults()}, parameters);
    return;
  }
  require(body.size() == 4 * parameters.size(),
          "strategy servers: an answer of {} bytes to a worker with {} parameters", body.size(), parameters.size());
  Kokkos::deep_copy(exec, parameters,
                    Span<const float>(reinterpret_cast<const float*>(body.data()), parameters.size()));
}

bool ServerClient::all_answered() const {
  return std::all_of(m_answered.begin(), m_answered.end(), [](std::uint8_t answered) { return answered != 0; });
}

void ServerClient::settle() {
  for (Completion& pushed : m_pushed) {
    if (pushed.valid()) pushed.wait();
  }
}

MessageBytes ServerClient::bytes() const {
  MessageBytes sum = m_sender.bytes();
  sum.header += block_alignment * static_cast<index_t>(keys().size());
  return sum;
}

Memories ServerClient::memories() {
  Memories all = m_sender.memories();
  for (MemoryView& memory : all) memory.bucket = 0;  // of a method, like those of the buckets of an exchange
  all.push_back({"versions", m_versions.data(), static_cast<index_t>(m_versions.size() * sizeof(index_t)), true,
                 Role::strategy, -1, [this] { return std::all_of(m_versions.begin(), m_versions.end(), is_count); }});
  return all;
}

index_t ServerClient::work_bytes() const {
  index_t sum = m_sender.work_bytes();
  for (std::size_t s = 0; s < keys().size(); ++s) {
    if (!is_own(s)) sum += static_cast<index_t>(m_push[s].size() + m_answer[s].size());
  }
  return sum;
}

}  // namespace gradcomp
