#include "gradcomp/evaluate/probe_run.hpp"

#include "gradcomp/measure/stopwatch.hpp"

namespace gradcomp::evaluate {
namespace {

/// The sum (or maximum) over one rank.
void reduce_alone(const Exec& exec, const Message& message) {
  if (message.bytes() == 0 || message.data == message.result) return;
  const auto bytes = static_cast<std::size_t>(message.bytes());
  Kokkos::deep_copy(exec, Span<std::byte>(static_cast<std::byte*>(message.result), bytes),
                    Span<const std::byte>(static_cast<const std::byte*>(message.data), bytes));
}

void append(const Exec& exec, const Message& message, std::vector<std::byte>& bytes) {
  const auto* data =
      message.kind == MessageKind::bytes ? message.payload.data() : static_cast<const std::byte*>(message.data);
  const std::size_t before = bytes.size(), count = static_cast<std::size_t>(message.bytes());
  if (count == 0) return;
  bytes.resize(before + count);
  Kokkos::deep_copy(exec, HostSpan<std::byte>(bytes.data() + before, count), Span<const std::byte>(data, count));
  exec.fence("gradcomp::evaluate::append");
}

}  // namespace

std::vector<float> copied(const float* device, std::size_t count) {
  std::vector<float> host(count);
  Kokkos::deep_copy(HostSpan<float>(host.data(), count), Span<const float>(device, count));
  return host;
}

ProbeRun::ProbeRun(const MethodSpec& spec, const Layout& layout)
    : compressor(spec.compressor),
      feedback(spec.common, layout.count()),
      state(compressor->prepare(layout)),
      out("gradcomp::evaluate::out", static_cast<std::size_t>(layout.count())) {}

void ProbeRun::step(const Exec& exec, const Span<const float>& gradient, const Context& context,
                    std::vector<std::byte>* bytes) {
  const Compressor& method = *compressor;
  const bool gathered = method.rounds() == 1 && method.info().rounds[0] == MessageKind::bytes;
  payload_bytes = header_bytes = 0;
  decompress_ms = 0;
  if (bytes != nullptr) bytes->clear();
  Stopwatch watch(exec);
  watch.start();
  const Source source = feedback.source(exec, gradient, context.ranks);
  compress_ms = 1e3 * watch.stop();
  Message message;
  for (int round = 0; round < method.rounds(); ++round) {
    message = Message{};
    watch.start();
    method.produce(exec, round, source, *state, context, message);
    compress_ms += 1e3 * watch.stop();
    const index_t header = message.kind == MessageKind::bytes ? payload_header_bytes : 0;
    header_bytes += header;
    payload_bytes += message.bytes() - header;
    if (bytes != nullptr) append(exec, message, *bytes);
    if (gathered) break;
    require(message.kind == MessageKind::summable, "{}: a round of bytes beside others cannot be evaluated on one rank",
            method.info().name);
    reduce_alone(exec, message);
    watch.start();
    method.consume(exec, round, message, *state, context);
    decompress_ms += 1e3 * watch.stop();
  }
  bool good = true;
  if (gathered) Kokkos::deep_copy(exec, out, 0.0f);  // decode_add() adds
  watch.start();
  if (gathered) {
    const Span<const std::byte> payload(message.payload.data(), static_cast<std::size_t>(message.size));
    good = !read_header(exec, payload).skip();
    if (good) method.decode_add(exec, payload, 1.0f, *state, out);
  } else {
    good = method.finish(exec, source, *state, context, out);
  }
  decompress_ms += 1e3 * watch.stop();
  require(good, "{}: step {} was flagged: the gradient, or its sum with the memory, is not finite", method.info().name,
          context.step);
}

}  // namespace gradcomp::evaluate
