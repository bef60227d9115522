#pragma once
// `coding=elias` of the quantisers that round to levels of a norm. It sends the codes of the fixed-width coding of the
// same method as Elias codes (kernels/pack/elias.hpp), or as they are if Elias codes are not shorter. Decoded values
// and memories are the same as with the fixed width, bit for bit.
//
// Payload: the header of the method. With flag_elias, the sections of EliasPlan follow; without it, those of the fixed
// width. A flagged payload has no sections.
#include <memory>
#include <string>
#include <utility>

#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/pack/elias.hpp"

namespace gradcomp::compressors {

/// A bit of PayloadHeader::flags that no other method uses.
inline constexpr std::uint32_t flag_elias = 1u << 2;

/// The `coding` parameter.
inline Parameter coding_parameter(const std::string& code) {
  return Parameter::choice(
      "coding", "fixed", {"fixed", "elias"},
      "fixed: every code has b bits; elias: gaps and levels of nonzeros in Elias " + code + " codes, never more bytes");
}

struct EliasState final : State {
  EliasState(std::unique_ptr<State> fixed_state, kernels::EliasPlan streams)
      : State(fixed_state->layout),
        fixed(std::move(fixed_state)),
        plan(std::move(streams)),
        payload("gradcomp::compressors::elias::payload",
                static_cast<std::size_t>(payload_header_bytes + plan.fixed_bytes())) {
    kept = fixed->kept;
    target = fixed->target;
  }
  Memories memories() override { return fixed->memories(); }
  index_t scratch_bytes() const override {
    return fixed->scratch_bytes() + plan.bytes() + static_cast<index_t>(payload.size());
  }

  std::unique_ptr<State> fixed;
  kernels::EliasPlan plan;
  Vector<std::byte> payload;  ///< [capacity] in Elias codes
};

/// Describes the codes of the fixed-width coding.
struct FixedCoding {
  index_t length = 0;  ///< of groups; 0: of whole segments
  int bits = 4;
  kernels::EliasCode code = kernels::EliasCode::omega;
};

template <class Codec>
class EliasStage final : public Compressor {
 public:
  /// `fixed` has the same name and options as this stage, so that both write the same headers.
  EliasStage(std::unique_ptr<Compressor> fixed, const Codec& codec, const FixedCoding& coding)
      : Compressor(sized_by_host(fixed->info()), fixed->options()),
        m_fixed(std::move(fixed)),
        m_codec(codec),
        m_coding(coding) {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<EliasState>(m_fixed->prepare(layout),
                                        kernels::EliasPlan(layout, m_coding.length, m_coding.bits, m_coding.code));
  }
  index_t payload_capacity(const Layout& layout) const override { return m_fixed->payload_capacity(layout); }
  index_t payload_bytes(const Layout& layout, index_t kept) const override {
    return m_fixed->payload_bytes(layout, kept);
  }

  Message produce(const Exec& exec, int, const Step& step, State& state) const override {
    auto& own = state.as<EliasState>();
    Message message = m_fixed->produce(exec, 0, step, *own.fixed);
    if (read_header(exec, message.payload).diverged()) {
      message.size = payload_header_bytes;
      return message;
    }
    if (step.source.count == 0) return message;
    const index_t size =
        own.plan.encode(exec, message.payload.data() + payload_header_bytes, own.payload.data() + payload_header_bytes);
    if (size == 0) return message;
    PayloadHeader head = header(step.source.count, step.source.count);
    head.flags = flag_elias;
    message.payload = own.payload;
    message.size = payload_header_bytes + size;
    write_header(exec, head, message.payload);
    return message;
  }

  void decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const override {
    auto& own = state.as<EliasState>();
    const std::string& name = info().name;
    const Span<const std::byte>& payload = received.bytes;
    const index_t count = own.layout.count(), size = static_cast<index_t>(payload.size()) - payload_header_bytes;
    const PayloadHeader head =
        read_header(exec, payload, header(count, count), PayloadHeader::flag_diverged | flag_elias);
    if (head.diverged()) return take_flag(exec, received, name, out);
    if ((head.flags & flag_elias) == 0) return m_fixed->decode_add(exec, received, *own.fixed, out);
    require(head.kept == head.elements, "{}: payload with {} entries, expected {}", name, head.kept, head.elements);
    require(static_cast<index_t>(out.size()) == count, "{}: output of {} elements, expected {}", name, out.size(),
            count);
    require(reinterpret_cast<std::uintptr_t>(payload.data()) % 4 == 0, "{}: payload is not aligned to 4 bytes", name);
    require(own.plan.decode_add(exec, m_codec, payload.data() + payload_header_bytes, size, received.weight, out),
            "{}: payload holds a stream of Elias codes or a norm that no sender writes", name);
  }

 private:
  static Info sized_by_host(Info info) {
    info.host_sizes = true;
    info.fixed_bytes = info.can_resize = false;
    return info;
  }

  std::unique_ptr<Compressor> m_fixed;
  Codec m_codec;
  FixedCoding m_coding;
};

}  // namespace gradcomp::compressors
