#pragma once
// A method for tests with two summable rounds: round 0 sums one number per bucket, and round 1 sums the gradient.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::test {

struct TwoRoundsState final : State {
  using State::State;
  Vector<float> norm{"norm", 1}, sum;
};

class TwoRounds final : public CompressorOf<TwoRoundsState> {
 public:
  TwoRounds() : CompressorOf(make_info(), ParameterValues()) {}

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
  index_t payload_capacity(const Layout&) const override { return 0; }
  index_t payload_bytes(const Layout& layout, index_t) const override { return 4 + 4 * layout.count(); }

  void do_produce(const Exec& exec, int round, const Source& source, TwoRoundsState& own, const Context&,
                  Message& message) const override {
    if (round == 0) Kokkos::deep_copy(exec, own.norm, Span<const float>(source.gradient, 1));
    message.count = round == 0 ? 1 : source.count;
    message.data = round == 0 ? own.norm.data() : source.gradient;
    message.result = round == 0 ? own.norm.data() : own.sum.data();
  }
  void do_finish(const Exec& exec, const Source& source, TwoRoundsState& own, const Context& context,
                 const Span<float>& out, Verdict& verdict) const override {
    std::vector<float> mean(static_cast<std::size_t>(source.count));
    const HostSpan<float> values(mean.data(), mean.size());
    Kokkos::deep_copy(values, own.sum);
    for (float& x : mean) x /= static_cast<float>(context.ranks);
    Kokkos::deep_copy(exec, out, values);
    exec.fence();
    float norm = 0;
    Kokkos::deep_copy(HostSpan<float>(&norm, 1), own.norm);
    if (norm != norm) verdict.skip(exec);
  }
  void do_give_back(const Exec&, const Source&, TwoRoundsState& state, const Message&,
                    const Span<const float>&) const override {
    state.kept = {0};  // seen in the report of the skipped step
  }
};

}  // namespace gradcomp::test
