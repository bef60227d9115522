#include "gradcomp/core/compressor.hpp"

#include <utility>

namespace gradcomp {

void take_flag(const Exec& exec, const Received& received, const std::string& method, const Span<float>& out) {
  require(static_cast<index_t>(received.bytes.size()) == payload_header_bytes,
          "{}: flagged payload of {} bytes, expected a header alone", method, received.bytes.size());
  const FaultCounts faults = received.faults;
  Kokkos::parallel_for(
      "gradcomp::core::take_flag", IndexRange(exec, 0, 1), KOKKOS_LAMBDA(const index_t) {
        faults.diverged();
        if (out.size() > 0) out(0) = Kokkos::Experimental::quiet_NaN_v<float>;
      });
}

Compressor::Compressor(Info info, ParameterValues options) : m_info(std::move(info)), m_options(std::move(options)) {}

index_t Compressor::payload_capacity(const Layout& layout) const {
  const bool bytes = m_info.rounds.size() == 1 && m_info.rounds[0] == MessageKind::bytes;
  return bytes ? payload_header_bytes + payload_bytes(layout, max_kept(layout)) : 0;
}

void Compressor::finish(const Exec&, const Step&, State&) const {
  throw Error(m_info.name + ": a method of one bytes round has no finish()");
}

void Compressor::decode_sum(const Exec& exec, std::span<const Received> messages, State& state,
                            const Span<float>& out) const {
  Kokkos::deep_copy(exec, out, 0.0f);
  for (const Received& received : messages) decode_add(exec, received, state, out);
}

void Compressor::decode_add(const Exec&, const Received&, State&, const Span<float>&) const {
  throw Error(m_info.name + ": a summable method has no decode_add()");
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
