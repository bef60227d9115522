#pragma once
// The common part of quantisers that send every element in one bytes message of fixed size: header, flag, lengths.
#include <memory>
#include <string>

#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// What every such method's State holds: the payload.
struct DenseState : State {
  DenseState(const Layout& bucket, index_t payload_bytes);

  Vector<std::byte> payload;
};

class DenseBytes : public Compressor {
 public:
  using Compressor::Compressor;

  index_t payload_capacity(const Layout& layout) const final { return payload_header_bytes + payload_bytes(layout, 0); }
  void produce(const Exec& exec, int round, const Source& source, State& state, const Context& context,
               Message& message) const final;
  void decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, State& state,
                  const Span<float>& out) const final;

 protected:
  /// Writes payload_bytes() bytes to `sections` (aligned to 4) and leaves in the memory what they do not say. False,
  /// with a itself in the memory and `sections` unspecified, when an element is not finite.
  virtual bool encode(const Exec& exec, const Source& source, State& state, const Context& context,
                      std::byte* sections) const = 0;
  /// out += weight * decoded; false, with `out` unspecified, when no encoder writes such bytes.
  virtual bool decode(const Exec& exec, const std::byte* sections, float weight, State& state,
                      const Span<float>& out) const = 0;
};

}  // namespace gradcomp::compressors
