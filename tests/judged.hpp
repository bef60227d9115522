#pragma once
// The two calls of a compressor that decide about a step, together with their verdict.
#include "gradcomp/core/compressor.hpp"

namespace gradcomp::test {

/// Calls Compressor::decode_add(). Throws Error for broken bytes, on devices too. Returns false if the payload is
/// flagged.
inline bool decode_add(const Compressor& method, const Exec& exec, const Span<const std::byte>& payload, float weight,
                       State& state, const Span<float>& out) {
  state.verdict.clear(exec);
  method.decode_add(exec, payload, weight, state, out, state.verdict);
  state.verdict.fetch(exec);
  return !state.verdict.skipped();
}

/// Calls Compressor::finish(). Returns false if a rank has flagged the step.
inline bool finish(const Compressor& method, const Exec& exec, const Source& source, State& state,
                   const Context& context, const Span<float>& out) {
  state.verdict.clear(exec);
  method.finish(exec, source, state, context, out, state.verdict);
  state.verdict.fetch(exec);
  return !state.verdict.skipped();
}

}  // namespace gradcomp::test
