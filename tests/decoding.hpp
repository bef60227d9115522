#pragma once
// The calls of a compressor that find faults, together with what they found.
#include "gradcomp/core/compressor.hpp"

namespace gradcomp::test {

/// Compressor::decode_add(). Throws Error for broken bytes, on devices too. Returns false if the payload is flagged.
inline bool decode_add(const Compressor& method, const Exec& exec, const Span<const std::byte>& payload, float weight,
                       State& state, const Span<float>& out, const Context& sender = {}) {
  Faults faults;
  method.decode_add(exec, {payload, sender, weight, faults.counts()}, state, out);
  faults.fetch(exec);
  return !faults.diverged();
}

/// The same with Compressor::decode_sum(), for as many copies of the payload as there are weights.
inline bool decode_sum(const Compressor& method, const Exec& exec, const Span<const std::byte>& payload,
                       const std::vector<float>& weights, State& state, const Span<float>& out) {
  Faults faults;
  std::vector<Received> messages;
  for (const float weight : weights) messages.push_back({payload, {}, weight, faults.counts()});
  method.decode_sum(exec, messages, state, out);
  faults.fetch(exec);
  return !faults.diverged();
}

/// Compressor::finish(), which writes to `out`. Returns false if a rank has flagged its message.
inline bool finish(const Compressor& method, const Exec& exec, const Source& source, State& state,
                   const Context& context, const Span<float>& out) {
  Faults faults;
  method.finish(exec, {source, out, context, faults.counts()}, state);
  faults.fetch(exec);
  return !faults.diverged();
}

}  // namespace gradcomp::test
