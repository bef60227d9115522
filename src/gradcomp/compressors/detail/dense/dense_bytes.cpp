#include "gradcomp/compressors/detail/dense/dense_bytes.hpp"

namespace gradcomp::compressors {

DenseState::DenseState(const Layout& bucket, index_t payload_bytes)
    : State(bucket), payload("gradcomp::compressors::payload", static_cast<std::size_t>(payload_bytes)) {}

void DenseBytes::do_produce(const Exec& exec, int, const Source& source, DenseState& own, const Context& context,
                            Message& message) const {
  own.non_finite.clear(exec);
  encode_state(exec, source, own, context, own.payload.data() + payload_header_bytes);
  message.kind = MessageKind::bytes;
  message.payload = own.payload;
  write_header(exec, header(source.count, source.count), message.payload, own.non_finite);
  // If the host cannot know of a flag in time, the message has its usual length, and nobody decodes its sections.
  const bool empty = device_is_host && own.non_finite.unless_zero().may_open();
  message.size = payload_header_bytes + (empty ? 0 : payload_bytes(own.layout, source.count));
}

void DenseBytes::do_decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, DenseState& own,
                               const Span<float>& out, Verdict& verdict) const {
  const std::string& name = info().name;
  const index_t count = own.layout.count();
  require(static_cast<index_t>(out.size()) == count, "{}: output of {} elements, expected {}", name, out.size(), count);
  admit_header(exec, payload, header(count, count), payload_bytes(own.layout, count), name, own.refused, verdict);
  const Gate admitted = own.refused.if_zero();
  if (!admitted.may_open()) return;
  require(reinterpret_cast<std::uintptr_t>(payload.data()) % 4 == 0, "{}: payload is not aligned to 4 bytes", name);
  own.wrong.clear(exec);
  decode_state(exec, payload.data() + payload_header_bytes, weight, own, admitted, out);
  verdict.refuse_if(exec, own.wrong.unless_zero(), "{}: payload holds a scale, a code or padding that no sender writes",
                    name);
}

void DenseBytes::take_back(const Exec& exec, const Source& source, DenseState& state, const std::byte* sections) const {
  const Gate flagged = state.non_finite.unless_zero();
  if (!source.has_memory() || !flagged.may_open()) return;
  decode_state(exec, sections, source.returning(), state, flagged,
               Span<float>(source.memory, static_cast<std::size_t>(source.count)));
}

}  // namespace gradcomp::compressors
