#pragma once
// A method for tests with two summable rounds: round 0 sums one number per bucket, and round 1 sums the gradient.
#include <cmath>

#include "gradcomp/core/registry.hpp"

namespace gradcomp::test {

struct TwoRoundsState final : State {
  using State::State;
  Vector<float> norm{"norm", 1}, sum;
};

class TwoRounds final : public Compressor {
 public:
  TwoRounds() : Compressor(make_info(), ParameterValues()) {}

  static Info make_info() {
    Info info;
    info.name = "two_rounds";
    info.rounds = {MessageKind::summable, MessageKind::summable};
    info.reducer = "allreduce";
    return info;
  }

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    auto state = std::make_unique<TwoRoundsState>(layout);
    state->sum = Vector<float>("sum", static_cast<std::size_t>(layout.count()));
    state->kept = {1};
    state->target = {2};
    return state;
  }
  index_t payload_bytes(const Layout& layout, index_t) const override { return 4 + 4 * layout.count(); }

  Message produce(const Exec& exec, int round, const Step& step, State& state) const override {
    auto& own = state.as<TwoRoundsState>();
    const Source& source = step.source;
    if (round == 0) Kokkos::deep_copy(exec, own.norm, Span<const float>(source.gradient, 1));
    Message message;
    message.count = round == 0 ? 1 : source.count;
    message.data = round == 0 ? own.norm.data() : source.gradient;
    message.result = round == 0 ? own.norm.data() : own.sum.data();
    return message;
  }
  void finish(const Exec& exec, const Step& step, State& state) const override {
    const auto& own = state.as<TwoRoundsState>();
    std::vector<float> mean(static_cast<std::size_t>(step.source.count));
    const HostSpan<float> values(mean.data(), mean.size());
    Kokkos::deep_copy(values, own.sum);
    for (float& x : mean) x /= static_cast<float>(step.context.ranks);
    Kokkos::deep_copy(exec, step.mean, values);
    exec.fence();
    float norm = 0;
    Kokkos::deep_copy(HostSpan<float>(&norm, 1), own.norm);
    if (!std::isfinite(norm)) step.faults.diverged();
  }
};

}  // namespace gradcomp::test
