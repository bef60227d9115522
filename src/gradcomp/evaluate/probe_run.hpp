#pragma once
// The rounds of a compressor on one rank: its own message is the sum over ranks.
#include <memory>
#include <vector>

#include "gradcomp/exchange/spec.hpp"
#include "gradcomp/feedback/feedback.hpp"

namespace gradcomp::evaluate {

/// `count` floats at `device` on the host.
std::vector<float> copied(const float* device, std::size_t count);

/// State, memory and output of one method between steps.
struct ProbeRun {
  ProbeRun(const MethodSpec& spec, const Layout& layout);

  /// All rounds of one step on `gradient`; `out` receives what was decoded (of ef21 a difference, not the estimate).
  /// With `bytes`, the messages are copied there. Throws Error when the method flags the step.
  void step(const Exec& exec, const Span<const float>& gradient, const Context& context, std::vector<std::byte>* bytes);

  std::shared_ptr<const Compressor> compressor;
  Feedback feedback;
  std::unique_ptr<State> state;
  Vector<float> out;
  index_t payload_bytes = 0, header_bytes = 0;  ///< of the last step
  double compress_ms = 0, decompress_ms = 0;    ///< of the last step
};

}  // namespace gradcomp::evaluate
