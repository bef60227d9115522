#pragma once
// `coding=elias` of the quantisers that round to levels of a norm. It sends the codes of the fixed-width coding of the
// same method as Elias codes (kernels/pack/elias.hpp), or as they are if Elias codes are not shorter. Decoded values
// and memories are the same as with the fixed width, bit for bit.
//
// Payload: the header of the method. With flag_elias, the sections of EliasPlan follow; without it, those of the fixed
// width. A flagged payload has no sections on any device.
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
  void follow(const Context& other) override {
    State::follow(other);
    fixed->follow(other);
  }
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
class EliasStage final : public CompressorOf<EliasState> {
 public:
  /// `fixed` has the same name and options as this stage, so that both write the same headers.
  EliasStage(std::unique_ptr<Compressor> fixed, const Codec& codec, const FixedCoding& coding)
      : CompressorOf(sized_by_host(fixed->info()), fixed->options()),
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
  bool has_fixed_bytes() const override { return false; }

  void do_produce(const Exec& exec, int, const Source& source, EliasState& own, const Context& context,
                  Message& message) const override {
    m_fixed->produce(exec, 0, source, *own.fixed, context, message);
    if (message.size == payload_header_bytes) return;  // flagged, or an empty bucket
    if (read_header(exec, message.payload).skip()) {   // a device's flagged message has sections, which nobody decodes
      message.size = payload_header_bytes;
      return;
    }
    const index_t size =
        own.plan.encode(exec, message.payload.data() + payload_header_bytes, own.payload.data() + payload_header_bytes);
    if (size == 0) return;
    PayloadHeader head = header(source.count, source.count);
    head.flags = flag_elias;
    message.payload = own.payload;
    message.size = payload_header_bytes + size;
    write_header(exec, head, message.payload);
  }

  void do_decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, EliasState& own,
                     const Span<float>& out, Verdict& verdict) const override {
    const std::string& name = info().name;
    const index_t count = own.layout.count();
    const PayloadHeader head = read_header(exec, payload, header(count, count), PayloadHeader::flag_skip | flag_elias);
    const index_t size = static_cast<index_t>(payload.size()) - payload_header_bytes;
    if (take_flag(exec, head, size, name, verdict)) return;
    if ((head.flags & flag_elias) == 0) return m_fixed->decode_add(exec, payload, weight, *own.fixed, out, verdict);
    require(head.kept == head.elements, "{}: payload with {} entries, expected {}", name, head.kept, head.elements);
    require(static_cast<index_t>(out.size()) == count, "{}: output of {} elements, expected {}", name, out.size(),
            count);
    require(reinterpret_cast<std::uintptr_t>(payload.data()) % 4 == 0, "{}: payload is not aligned to 4 bytes", name);
    require(own.plan.decode_add(exec, m_codec, payload.data() + payload_header_bytes, size, weight, out),
            "{}: payload holds a stream of Elias codes or a norm that no sender writes", name);
  }

 private:
  static Info sized_by_host(Info info) {
    info.host_sizes = true;
    return info;
  }

  std::unique_ptr<Compressor> m_fixed;
  Codec m_codec;
  FixedCoding m_coding;
};

}  // namespace gradcomp::compressors
