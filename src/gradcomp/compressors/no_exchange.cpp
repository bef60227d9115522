#include "gradcomp/compressors/no_exchange.hpp"

#include <utility>

#include "gradcomp/compressors/detail/dense/dense_mean.hpp"
#include "gradcomp/kernels/lanes/elementwise.hpp"

namespace gradcomp::compressors {

struct NoExchangeState final : State {
  using State::State;
  bool finished = false;  ///< finish() was called in this step
  Tally bad;              ///< non-finite elements; if there are any, finish() has not emptied the memory
};

class NoExchange final : public CompressorOf<NoExchangeState> {
 public:
  using CompressorOf::CompressorOf;

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<NoExchangeState>(layout);
  }
  index_t payload_capacity(const Layout&) const override { return 0; }
  index_t payload_bytes(const Layout&, index_t) const override { return 0; }

  void do_produce(const Exec&, int, const Source&, NoExchangeState& state, const Context&,
                  Message& message) const override {
    state.finished = false;
    message = Message{};
  }

  void do_finish(const Exec& exec, const Source& source, NoExchangeState& own, const Context&, const Span<float>& out,
                 Verdict& verdict) const override {
    if (source.has_memory()) copy_accumulated(exec, source, out.data());
    divide_sum(exec, source.has_memory() ? out.data() : source.gradient, 1, own.bad, out);
    verdict.skip_if(exec, own.bad.unless_zero());
    own.finished = true;
    if (source.has_memory()) kernels::fill(exec, Span<float>(source.memory, out.size()), 0.0f, own.bad.if_zero());
  }

  void do_give_back(const Exec& exec, const Source& source, NoExchangeState& own, const Message&,
                    const Span<const float>& out) const override {
    const bool finished = std::exchange(own.finished, false);  // before finish(), the memory holds a
    if (!finished || !source.has_memory()) return;
    kernels::assign(exec, Span<float>(source.memory, out.size()), out, own.bad.if_zero());
  }
};

Entry no_exchange() {
  Info info;
  info.name = "no_exchange";
  info.former_name = "none";
  info.summary = "no communication: every rank keeps its own gradient (a bound on time, not a training method)";
  info.paper = "control of this suite";
  info.family = Info::Family::control;
  info.property = Info::Property::exact;
  info.rounds = {MessageKind::summable};
  info.reducer = "local";
  info.travels = false;
  info.bytes_formula = "0";
  info.passes = 0;
  info.in_place = true;
  return make_entry<NoExchange>(info);
}

}  // namespace gradcomp::compressors
