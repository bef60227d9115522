#include "gradcomp/compressors/detail/dense/dense_bytes.hpp"

#include "gradcomp/core/read_back.hpp"

namespace gradcomp::compressors {

DenseState::DenseState(const Layout& bucket, index_t payload_bytes)
    : State(bucket), payload("gradcomp::compressors::payload", static_cast<std::size_t>(payload_bytes)) {}

std::unique_ptr<State> DenseBytes::prepare(const Layout& layout) const {
  auto state = make_state(layout);
  const Exec exec;
  write_header(exec, header(layout.count(), layout.count()), state->payload);
  wait(exec, "gradcomp::compressors::prepare");
  return state;
}

Message DenseBytes::produce(const Exec& exec, int, const Step& step, State& state) const {
  auto& own = state.as<DenseState>();
  encode(exec, step, own, own.payload.data() + payload_header_bytes);
  Message message;
  message.kind = MessageKind::bytes;
  message.payload = own.payload;
  message.size = payload_header_bytes + payload_bytes(own.layout, step.source.count);
  return message;
}

void DenseBytes::decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const {
  add(exec, received, state, false, out);
}

void DenseBytes::decode_sum(const Exec& exec, std::span<const Received> messages, State& state,
                            const Span<float>& out) const {
  for (const Received& received : messages) add(exec, received, state, &received == &messages[0], out);
}

void DenseBytes::add(const Exec& exec, const Received& received, State& state, bool from_zero,
                     const Span<float>& out) const {
  const std::string& name = info().name;
  const index_t count = state.layout.count();
  const index_t size = payload_header_bytes + payload_bytes(state.layout, count);
  require(static_cast<index_t>(out.size()) == count, "{}: output of {} elements, expected {}", name, out.size(), count);
  require(static_cast<index_t>(received.bytes.size()) == size, "{}: payload of {} bytes, expected {}", name,
          received.bytes.size(), size);
  require(reinterpret_cast<std::uintptr_t>(received.bytes.data()) % 4 == 0, "{}: payload is not aligned to 4 bytes",
          name);
  Admission admission{reinterpret_cast<const std::uint32_t*>(received.bytes.data()), header(count, count),
                      received.faults, count > 0 ? out.data() : nullptr, from_zero};
  const bool units_ask = from_zero && count > 0;  // so that `out` becomes zero in any case
  if (!units_ask && !admission.settle()) return;
  decode(exec, {received.bytes.data() + payload_header_bytes, received.weight, admission, received.sender},
         state.as<DenseState>(), out);
}

void DenseBytes::resize(const Exec& exec, State& state, index_t count) const {
  if (!info().can_resize) return Compressor::resize(exec, state, count);
  auto& own = state.as<DenseState>();
  Segment& segment = own.layout.segments.at(0);
  if (segment.count == count) return;
  segment.count = count;
  segment.shape.assign(1, count);
  if (!own.kept.empty()) own.kept[0] = count;
  write_header(exec, header(count, count), own.payload);
  resize_plans(exec, own, count);
}

}  // namespace gradcomp::compressors
