#pragma once
// What is common to quantisers that send every element in one bytes message of fixed size: header, flag, lengths.
#include <memory>
#include <string>

#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// What the State of every such method contains.
struct DenseState : State {
  DenseState(const Layout& bucket, index_t payload_bytes);
  /// In the header of the payload.
  Mark mark() const { return mark_in(payload); }

  Vector<std::byte> payload;  ///< the header never changes, except for its flag
};

/// The sections of a payload, aligned to 4 bytes, and whether they may be decoded.
struct Sections {
  const std::byte* at;
  float weight;
  Admission admission;
  Context sender;
};

class DenseBytes : public Compressor {
 public:
  using Compressor::Compressor;

  std::unique_ptr<State> prepare(const Layout& layout) const final;
  Message produce(const Exec& exec, int round, const Step& step, State& state) const final;
  void decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const final;
  void decode_sum(const Exec& exec, std::span<const Received> messages, State& state,
                  const Span<float>& out) const final;
  void resize(const Exec& exec, State& state, index_t count) const final;

 protected:
  virtual std::unique_ptr<DenseState> make_state(const Layout& layout) const = 0;
  /// Writes payload_bytes() bytes to `sections`, which is aligned to 4 bytes, and leaves in the memory what they do not
  /// carry. Elements that are not finite are noted in state.mark().
  virtual void encode(const Exec& exec, const Step& step, DenseState& state, std::byte* sections) const = 0;
  /// out = Admission::before() + weight * decoded if the payload is admitted. Counts what no encoder writes as broken.
  /// Its kernels ask kernels::may_add() for all elements.
  virtual void decode(const Exec& exec, const Sections& sections, DenseState& state, const Span<float>& out) const = 0;
  /// If Info::can_resize is set: adapts the plans that depend on the layout, which is already that of `count` elements.
  virtual void resize_plans(const Exec&, DenseState&, index_t /*count*/) const {}

 private:
  void add(const Exec& exec, const Received& received, State& state, bool from_zero, const Span<float>& out) const;
};

}  // namespace gradcomp::compressors
