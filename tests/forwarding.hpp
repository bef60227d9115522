#pragma once
// A method that does what another one does. Derive from it to change one thing.
#include <memory>
#include <utility>

#include "gradcomp/core/compressor.hpp"

namespace gradcomp::test {

class Forwarding : public Compressor {
 public:
  explicit Forwarding(std::shared_ptr<const Compressor> inner)
      : Compressor(inner->info(), inner->options()), m_inner(std::move(inner)) {}

  std::unique_ptr<State> prepare(const Layout& layout) const override { return m_inner->prepare(layout); }
  index_t payload_capacity(const Layout& layout) const override { return m_inner->payload_capacity(layout); }
  index_t payload_bytes(const Layout& layout, index_t kept) const override {
    return m_inner->payload_bytes(layout, kept);
  }
  Message produce(const Exec& exec, int round, const Step& step, State& state) const override {
    return m_inner->produce(exec, round, step, state);
  }
  void decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const override {
    m_inner->decode_add(exec, received, state, out);
  }

 protected:
  std::shared_ptr<const Compressor> m_inner;
};

}  // namespace gradcomp::test
