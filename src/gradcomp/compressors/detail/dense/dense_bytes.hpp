#pragma once
// The common part of quantisers that send every element in one bytes message of fixed size: header, flag, lengths.
#include <memory>
#include <string>

#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// What every such method's State holds: the payload, and what was found wrong.
struct DenseState : State {
  DenseState(const Layout& bucket, index_t payload_bytes);

  Vector<std::byte> payload;
  Tally non_finite;  ///< elements of the last gradient
  Tally refused;     ///< whether the payload that is decoded is flagged or broken
  Tally wrong;       ///< scales, codes and padding in it that no encoder writes
};

class DenseBytes : public CompressorOf<DenseState> {
 public:
  using CompressorOf::CompressorOf;

  index_t payload_capacity(const Layout& layout) const final { return payload_header_bytes + payload_bytes(layout, 0); }
  void do_produce(const Exec& exec, int round, const Source& source, DenseState& state, const Context& context,
                  Message& message) const final;
  void do_decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, DenseState& state,
                     const Span<float>& out, Verdict& verdict) const final;

 protected:
  /// Writes payload_bytes() bytes to `sections` (aligned to 4) and leaves in the memory what they do not say. When
  /// elements are not finite, they are counted in state.non_finite, with a itself in the memory and `sections`
  /// unspecified.
  virtual void encode_state(const Exec& exec, const Source& source, DenseState& state, const Context& context,
                            std::byte* sections) const = 0;
  /// out += weight * decoded where `gate` is open. What no encoder writes is counted in state.wrong, with `out`
  /// unspecified.
  virtual void decode_state(const Exec& exec, const std::byte* sections, float weight, DenseState& state,
                            const Gate& gate, const Span<float>& out) const = 0;
  /// For encoders that find out in the pass that encodes: where elements are not finite, nothing will be sent, and what
  /// the pass took out of the memory returns to it.
  void take_back(const Exec& exec, const Source& source, DenseState& state, const std::byte* sections) const;
};

/// DenseBytes whose prepare() makes an `Own`, which its hooks get.
template <class Own>
class DenseBytesOf : public DenseBytes {
 public:
  using DenseBytes::DenseBytes;

  void resize(const Exec& exec, State& state, index_t count) const final {
    if (!can_resize()) return Compressor::resize(exec, state, count);
    state.resize(count);
    resize_plans(exec, static_cast<Own&>(state), count);
  }

 protected:
  virtual void encode(const Exec& exec, const Source& source, Own& state, const Context& context,
                      std::byte* sections) const = 0;
  virtual void decode(const Exec& exec, const std::byte* sections, float weight, Own& state, const Gate& gate,
                      const Span<float>& out) const = 0;
  /// After State::resize(), where can_resize(): the plans that depend on the layout.
  virtual void resize_plans(const Exec&, Own&, index_t /*count*/) const {}

 private:
  void encode_state(const Exec& exec, const Source& source, DenseState& state, const Context& context,
                    std::byte* sections) const final {
    encode(exec, source, static_cast<Own&>(state), context, sections);
  }
  void decode_state(const Exec& exec, const std::byte* sections, float weight, DenseState& state, const Gate& gate,
                    const Span<float>& out) const final {
    decode(exec, sections, weight, static_cast<Own&>(state), gate, out);
  }
};

}  // namespace gradcomp::compressors
