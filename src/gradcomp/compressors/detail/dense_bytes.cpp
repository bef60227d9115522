#include "gradcomp/compressors/detail/dense_bytes.hpp"

namespace gradcomp::compressors {

DenseState::DenseState(const Layout& bucket, index_t payload_bytes)
    : State(bucket), payload("gradcomp::compressors::payload", static_cast<std::size_t>(payload_bytes)) {}

void DenseBytes::produce(const Exec& exec, int, const Source& source, State& state, const Context& context,
                         Message& message) const {
  auto& own = static_cast<DenseState&>(state);
  const bool good = encode(exec, source, state, context, own.payload.data() + payload_header_bytes);
  PayloadHeader head = header(source.count, good ? source.count : 0);
  head.flags = good ? 0 : PayloadHeader::flag_skip;
  message.kind = MessageKind::bytes;
  message.payload = own.payload;
  message.size = payload_header_bytes + (good ? payload_bytes(own.layout, source.count) : 0);
  write_header(exec, head, message.payload);
}

void DenseBytes::decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, State& state,
                            const Span<float>& out) const {
  const std::string& name = info().name;
  const index_t count = state.layout.count();
  const PayloadHeader head = read_header(exec, payload, header(count, count));
  const index_t expected = head.skip() ? 0 : payload_bytes(state.layout, count);
  require(static_cast<index_t>(payload.size()) == payload_header_bytes + expected &&
              head.kept == (head.skip() ? 0 : head.elements),
          "{}: payload of {} bytes for {} entries, expected {} bytes", name, payload.size(), head.kept,
          payload_header_bytes + expected);
  require(static_cast<index_t>(out.size()) == count, "{}: output of {} elements, expected {}", name, out.size(), count);
  if (head.skip()) return;
  require(reinterpret_cast<std::uintptr_t>(payload.data()) % 4 == 0, "{}: payload is not aligned to 4 bytes", name);
  require(decode(exec, payload.data() + payload_header_bytes, weight, state, out),
          "{}: payload holds a scale, a code or padding that no sender writes", name);
}

}  // namespace gradcomp::compressors
