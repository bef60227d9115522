#include "gradcomp/strategy/detail/answers.hpp"

#include "gradcomp/kernels/lanes/elementwise.hpp"
#include "gradcomp/strategy/detail/subtract.hpp"

namespace gradcomp {

Answers::Answers(const MethodSpec& method, const Stripe& keys, bool coded, bool shared, int server, int workers,
                 std::uint64_t seed)
    : m_compressor(method.compressor), m_shared(shared), m_server(server), m_workers(workers), m_seed(seed) {
  const auto n = static_cast<std::size_t>(keys.count());
  m_channels.resize(shared ? 1 : static_cast<std::size_t>(workers));
  for (Channel& channel : m_channels) {
    channel.room = message_room("gradcomp::strategy::servers::answer",
                                coded ? push_capacity(*m_compressor, keys.layout) : 4 * keys.count());
    if (!coded || n == 0) continue;
    channel.mirror = Vector<float>("gradcomp::strategy::servers::mirror", n);
    channel.state = m_compressor->prepare(keys.layout);
    m_change = Vector<float>("gradcomp::strategy::servers::change", n);
  }
}

void Answers::start(const Exec& exec, const Span<const float>& parameters) {
  for (Channel& channel : m_channels) {
    if (channel.mirror.size() > 0) Kokkos::deep_copy(exec, channel.mirror, parameters);
  }
}

/// Compresses the change with the method. Adds the payload to the mirror, as the worker will add it to its parameters.
Span<const std::byte> Answers::encode(const Exec& exec, Channel& channel, const Span<const float>& parameters,
                                      const Context& context) {
  subtract(exec, parameters, channel.mirror, m_change);
  Step step;
  step.source.count = static_cast<index_t>(m_change.size());
  step.source.gradient = m_change.data();
  step.context = context;
  const Message message = m_compressor->produce(exec, 0, step, *channel.state);
  const Span<const std::byte> payload(message.payload.data(), static_cast<std::size_t>(message.size));
  m_compressor->decode_add(exec, {payload, context}, *channel.state, channel.mirror);
  m_bytes += bytes_of(message);
  return payload;
}

index_t Answers::write(const Exec& exec, std::size_t worker, const Span<const float>& parameters, AnswerHeader header) {
  Channel& own = m_channels[m_shared ? 0 : worker];
  const bool nothing = parameters.size() == 0 || header.diverged != 0;
  if (!nothing && own.mirror.size() > 0) {
    // No worker's gradient and no other answer uses this stream of random numbers.
    header.stream = m_workers * (1 + m_server) + (m_shared ? 0 : static_cast<int>(worker));
    const Span<const std::byte> payload =
        encode(exec, own, parameters, {m_seed, header.version, header.stream, m_workers});
    header.bytes = static_cast<index_t>(payload.size());
    Kokkos::deep_copy(exec, body_of(own.room, header.bytes), payload);
  } else if (!nothing) {
    header.dtype = static_cast<std::int32_t>(DType::f32);
    header.bytes = 4 * static_cast<index_t>(parameters.size());
    const Span<float> room(reinterpret_cast<float*>(own.room.data() + block_alignment), parameters.size());
    Kokkos::deep_copy(exec, room, parameters);
    m_bytes += {header.bytes, 0};
  }
  put_header(exec, own.room, header);
  m_bytes += {0, block_alignment};
  return block_alignment + header.bytes;
}

Memories Answers::memories() {
  Memories all;
  for (std::size_t c = 0; c < m_channels.size(); ++c) {
    if (m_channels[c].mirror.size() == 0) continue;
    const std::string prefix = fmt::format("server/answers{}/", c);
    all.push_back(memory_of(Role::strategy, m_channels[c].mirror, prefix + "mirror"));
    for (MemoryView& memory : m_channels[c].state->memories()) {
      memory.name = prefix + memory.name;
      all.push_back(std::move(memory));
    }
  }
  return all;
}

index_t Answers::work_bytes() const {
  index_t sum = 4 * static_cast<index_t>(m_change.size());
  for (const Channel& channel : m_channels) {
    sum += static_cast<index_t>(channel.room.size());
    if (channel.state) sum += channel.state->scratch_bytes();
  }
  return sum;
}

}  // namespace gradcomp
