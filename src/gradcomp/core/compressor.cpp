#include "gradcomp/core/compressor.hpp"

#include <utility>

namespace gradcomp {

void State::resize(index_t count) {
  Segment& segment = layout.segments.at(0);
  segment.count = count;
  segment.shape.assign(1, count);
  if (!kept.empty()) kept[0] = count;
}

Compressor::Compressor(Info info, ParameterValues options) : m_info(std::move(info)), m_options(std::move(options)) {}

void Compressor::finish(const Exec&, const Source&, State&, const Context&, const Span<float>&, Verdict&) const {
  throw Error(m_info.name + ": a method of one bytes round has no finish()");
}

void Compressor::decode_add(const Exec&, const Span<const std::byte>&, float, State&, const Span<float>&,
                            Verdict&) const {
  throw Error(m_info.name + ": a summable method has no decode_add()");
}

void Compressor::give_back(const Exec& exec, const Source& source, State& state, const Message& message,
                           const Span<const float>&) const {
  if (!source.has_memory() || message.kind != MessageKind::bytes) return;
  const Span<const std::byte> payload(message.payload.data(), static_cast<std::size_t>(message.size));
  decode_add(exec, payload, source.returning(), state,
             Span<float>(source.memory, static_cast<std::size_t>(source.count)), state.verdict);
}

void Compressor::resize(const Exec&, State&, index_t) const {
  throw Error(m_info.name + ": it cannot code the values of another method");
}

PayloadHeader Compressor::header(index_t elements, index_t kept) const {
  PayloadHeader h;
  h.method = static_cast<std::uint16_t>(text_hash(m_info.name.c_str()));
  h.spec = text_hash(m_options.canonical().c_str());
  h.elements = static_cast<std::uint64_t>(elements);
  h.kept = static_cast<std::uint64_t>(kept);
  return h;
}

}  // namespace gradcomp
