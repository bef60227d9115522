#pragma once
// Methods with one fault each, which the suite must report. They test the suite itself.
#include <memory>
#include <utility>

#include "forwarding.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::conformance {

enum class Fault {
  decodes_nothing,  ///< receivers add nothing, and all of the gradient stays in the memory: the residual identity holds
  throws_on_memory,  ///< every step with a feedback throws
  hides_memories     ///< State::memories() is empty, though the method remembers
};

/// A method with one round of bytes and this fault.
class Broken final : public test::Forwarding {
 public:
  Broken(std::shared_ptr<const Compressor> inner, Fault fault) : Forwarding(std::move(inner)), m_fault(fault) {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<Wrapped>(layout, m_inner->prepare(layout), m_fault);
  }
  Message produce(const Exec& exec, int round, const Step& step, State& state) const override {
    const Source& source = step.source;
    require(m_fault != Fault::throws_on_memory || !source.has_memory(), "an index is out of range");
    const Message message = Forwarding::produce(exec, round, step, inner(state));
    if (m_fault == Fault::decodes_nothing && source.has_memory()) {
      const Span<const std::byte> payload(message.payload.data(), static_cast<std::size_t>(message.size));
      Forwarding::decode_add(exec, {payload, step.context, 1, {}}, inner(state),
                             Span<float>(source.memory, static_cast<std::size_t>(source.count)));
    }
    return message;
  }
  void decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const override {
    if (m_fault != Fault::decodes_nothing) Forwarding::decode_add(exec, received, inner(state), out);
  }

 private:
  struct Wrapped final : State {
    Wrapped(const Layout& bucket, std::unique_ptr<State> state, Fault fault)
        : State(bucket), inner(std::move(state)), hides(fault == Fault::hides_memories) {}
    Memories memories() override { return hides ? Memories{} : inner->memories(); }
    std::unique_ptr<State> inner;
    bool hides;
  };
  static State& inner(State& state) { return *state.as<Wrapped>().inner; }

  Fault m_fault;
};

/// `spec` with a compressor that has the fault.
inline MethodSpec broken(const std::string& spec, Fault fault) {
  MethodSpec method = parse_method(spec);
  method.compressor = std::make_shared<Broken>(method.compressor, fault);
  return method;
}

}  // namespace gradcomp::conformance
