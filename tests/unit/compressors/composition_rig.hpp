#pragma once
// One rank of a composition with a feedback, and of its parts. It needs device memory that is host memory.
#include "forwarding.hpp"
#include "gradcomp/compressors/composition/composition.hpp"
#include "judged.hpp"
#include "unit/compressors/quantiser_rig.hpp"

namespace gradcomp::compositions {

using quantisers::Bytes;
using quantisers::Floats;
using quantisers::Given;
using quantisers::normal_values;
using quantisers::span;
using Method = std::shared_ptr<const Compressor>;

inline Method make(const std::string& name, const Given& given = {}) {
  const Entry& entry = find_entry(name);
  return entry.make(ParameterValues(name, entry.info.parameters, given));
}
inline Method hybrid(const Method& sparsifier, const Method& coder) {
  return compressors::make_hybrid(sparsifier, coder);
}
inline Method huffman(const Method& inner) { return compressors::make_entropy_stage(inner); }

struct Rig {
  Rig(Method compressor, const Layout& bucket, bool residual)
      : method(std::move(compressor)), layout(bucket), state(method->prepare(layout)) {
    if (residual) memory.assign(static_cast<std::size_t>(layout.count()), 0);
  }

  Source source(const Floats& gradient) {
    Source s;
    s.count = layout.count();
    s.gradient = gradient.data();
    if (!memory.empty()) {
      s.kind = Source::Kind::residual;
      s.memory = memory.data();
    }
    return s;
  }
  /// Makes one step, and returns what its payload decodes to.
  Floats step(const Floats& gradient, std::int64_t number = 0) {
    method->produce(Exec(), 0, source(gradient), *state, {7, number, 0, 1}, message);
    Exec().fence();
    return decode(payload());
  }
  Bytes payload() const { return {message.payload.data(), message.payload.data() + message.size}; }
  PayloadHeader header() const {
    PayloadHeader head;
    std::memcpy(&head, message.payload.data(), sizeof(head));
    return head;
  }
  Floats decode(const Bytes& bytes) {
    Floats out(static_cast<std::size_t>(layout.count()), 0);
    test::decode_add(*method, Exec(), Span<const std::byte>(bytes.data(), bytes.size()), 1, *state, span(out));
    Exec().fence();
    return out;
  }
  void give_back(const Floats& gradient) {
    method->give_back(Exec(), source(gradient), *state, message, Span<const float>());
    Exec().fence();
  }

  Method method;
  Layout layout;
  std::unique_ptr<State> state;
  Floats memory;
  Message message;
};

/// A method of messages with a fixed size, as it is on a device: the host does not know of a flag, so that a flagged
/// message keeps its sections, and receivers expect them.
class KeepsLength final : public test::Forwarding {
 public:
  using Forwarding::Forwarding;

  void produce(const Exec& exec, int round, const Source& source, State& state, const Context& context,
               Message& message) const override {
    Forwarding::produce(exec, round, source, state, context, message);
    message.size = payload_capacity(state.layout);
  }
  void decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, State& state,
                  const Span<float>& out, Verdict& verdict) const override {
    const index_t size = static_cast<index_t>(payload.size());
    require(size == payload_capacity(state.layout), "payload of {} bytes", size);
    const bool skip = read_header(exec, payload).skip();
    Forwarding::decode_add(exec, subspan(payload, 0, skip ? payload_header_bytes : size), weight, state, out, verdict);
  }
};

/// `stage` around a KeepsLength flags a step as it does on hosts.
inline void expect_flags_alone(const Method& stage, bool residual) {
  Rig rig(stage, Layout::flat(5000), residual);
  Floats g = normal_values(5000, 1);
  EXPECT_NE(rig.step(g), Floats(5000, 0));
  const Floats before = rig.memory;
  g[70] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(rig.step(g, 1), Floats(5000, 0));
  EXPECT_TRUE(rig.state->verdict.skipped());
  EXPECT_TRUE(rig.header().skip());
  EXPECT_EQ(rig.message.size, payload_header_bytes);
  rig.give_back(g);
  for (std::size_t i = 0; i < rig.memory.size(); ++i)
    ASSERT_NEAR(rig.memory[i], before[i] + (i == 70 ? 0.0f : g[i]), 1e-5) << i;
}

inline Layout three_tensors() {
  Layout layout;
  return layout.add("a", {40, 50}).add("b", {3}).add("c", {4097});
}

}  // namespace gradcomp::compositions
