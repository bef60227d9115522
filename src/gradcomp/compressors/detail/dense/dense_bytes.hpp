#pragma once
// What is common to quantisers that send every element in one bytes message of fixed size: header, flag, lengths.
#include <memory>
#include <string>

#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// What the State of every such method contains: the payload and tallies of what was found wrong.
struct DenseState : State {
  DenseState(const Layout& bucket, index_t payload_bytes);

  Vector<std::byte> payload;
  Tally non_finite;  ///< number of such elements in the last gradient
  Tally refused;     ///< not 0 if the payload to be decoded is flagged or broken
  Tally wrong;       ///< scales, codes and padding of the payload that no encoder writes
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
  /// Writes payload_bytes() bytes to `sections`, which is aligned to 4 bytes, and leaves in the memory what they do not
  /// carry. If elements are not finite, they are counted in state.non_finite; then the memory holds a itself, and
  /// `sections` is unspecified.
  virtual void encode_state(const Exec& exec, const Source& source, DenseState& state, const Context& context,
                            std::byte* sections) const = 0;
  /// out += weight * decoded if `gate` is open. What no encoder writes is counted in state.wrong; then `out` is
  /// unspecified.
  virtual void decode_state(const Exec& exec, const std::byte* sections, float weight, DenseState& state,
                            const Gate& gate, const Span<float>& out) const = 0;
  /// For encoders that find non-finite elements in the same pass that encodes. If there are any, nothing is sent, and
  /// this returns to the memory what the pass took from it.
  void take_back(const Exec& exec, const Source& source, DenseState& state, const std::byte* sections) const;
};

/// DenseBytes whose prepare() makes an `Own`, which it passes to encode() and decode().
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
  /// Called after State::resize() if can_resize(): adapts the plans that depend on the layout.
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
