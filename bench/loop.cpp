#include "loop.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/measure/stopwatch.hpp"

namespace gradcomp::bench {
namespace {

Options feedback_options(const MethodSpec& method, bool force_residual) {
  if (!force_residual) return method.common;
  return {"gradcomp-bench", feedback_parameters(method.compressor->info()), {{"feedback", "residual"}}};
}

}  // namespace

Loop::Loop(const MethodSpec& method, const Layout& layout, std::uint64_t seed, bool force_residual)
    : m_compressor(method.compressor),
      m_layout(method.common.text("granularity") == "bucket" ? layout.fused() : layout),
      m_feedback(feedback_options(method, force_residual), layout.count()),
      m_state(m_compressor->prepare(m_layout)),
      m_context{.seed = seed, .step = 0, .rank = 0, .ranks = 1},
      m_out("gradcomp::bench::out", static_cast<std::size_t>(layout.count())) {}

void Loop::reset(const Exec& exec) {
  for (const auto& view : m_feedback.persistent()) {
    const auto count = static_cast<std::size_t>(view.bytes / size_of(DType::f32));
    Kokkos::deep_copy(exec, Span<float>(static_cast<float*>(view.data), count), 0.0f);
  }
  Kokkos::deep_copy(exec, m_out, 0.0f);  // decode_add() adds
}

Span<const float> Loop::memory() const {
  const auto view = m_feedback.persistent().at(0);
  return Span<const float>(static_cast<const float*>(view.data), m_out.size());
}

index_t Loop::header_bytes() const {
  index_t headers = 0;
  for (const auto kind : m_compressor->info().rounds) headers += kind == MessageKind::bytes ? payload_header_bytes : 0;
  return headers;
}

index_t Loop::bytes() const {
  index_t bytes = m_feedback.scratch_bytes() + m_state->scratch_bytes() + static_cast<index_t>(4 * m_out.size());
  for (const auto& view : m_feedback.persistent()) bytes += view.bytes;
  for (const auto& view : m_state->persistent()) bytes += view.bytes;
  return bytes;
}

void Loop::reduce_alone(const Exec& exec) {
  if (m_message.kind == MessageKind::bytes || m_message.data == m_message.result) return;
  const auto bytes = static_cast<std::size_t>(m_message.bytes());
  if (bytes == 0) return;
  Stopwatch watch(exec);
  watch.start();
  Kokkos::deep_copy(exec, Span<std::byte>(static_cast<std::byte*>(m_message.result), bytes),
                    Span<const std::byte>(static_cast<const std::byte*>(m_message.data), bytes));
  m_exchange_seconds += watch.stop();
}

void Loop::compress(const Exec& exec, const Span<const float>& gradient) {
  m_source = m_feedback.source(exec, gradient, 1);
  m_bytes = 0;
  const int last = m_compressor->rounds() - 1;
  for (int round = 0; round <= last; ++round) {
    m_compressor->produce(exec, round, m_source, *m_state, m_context, m_message);
    m_bytes += m_message.bytes();
    if (m_seen) m_seen(m_message);
    if (round == last) return;
    reduce_alone(exec);
    m_compressor->consume(exec, round, m_message, *m_state, m_context);
  }
}

void Loop::decompress(const Exec& exec) {
  const int last = m_compressor->rounds() - 1;
  if (last == 0 && m_message.kind == MessageKind::bytes) {
    const Span<const std::byte> payload(m_message.payload.data(), static_cast<std::size_t>(m_message.size));
    m_compressor->decode_add(exec, payload, 1.0f, *m_state, m_out);
    return;
  }
  reduce_alone(exec);
  m_compressor->consume(exec, last, m_message, *m_state, m_context);
  require(m_compressor->finish(exec, m_source, *m_state, m_context, m_out),
          "a finite gradient was flagged as not finite");
}

}  // namespace gradcomp::bench
