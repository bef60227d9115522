#include "gradcomp/compressors/fp32.hpp"

#include <utility>

#include "gradcomp/compressors/detail/dense/dense_mean.hpp"
#include "gradcomp/kernels/lanes/elementwise.hpp"

namespace gradcomp::compressors {

/// The sum is formed in the array of the mean. A memory needs n floats more. Nothing persists between steps.
struct Fp32State final : State {
  using State::State;
  index_t scratch_bytes() const override { return 4 * static_cast<index_t>(sent.size()); }
  void remember() override {
    sent = Vector<float>("gradcomp::compressors::fp32::sent", static_cast<std::size_t>(layout.count()));
  }

  Vector<float> sent;     ///< with a memory: what this rank has sent
  bool finished = false;  ///< finish() was called in this step
  Tally bad;              ///< non-finite elements of the sum; if there are any, finish() has not emptied the memory
};

/// Moves a from the memory to `sent`, where give_back() finds it, and leaves a residual of zero, if `gate` is open.
void empty_memory(const Exec& exec, const Source& source, const Gate& gate, const Vector<float>& sent) {
  if (!gate.may_open()) return;
  Kokkos::parallel_for(
      "gradcomp::compressors::empty_memory", IndexRange(exec, 0, source.count), KOKKOS_LAMBDA(const index_t i) {
        if (!gate.open()) return;
        const float a = source.load(i);
        sent(i) = a;
        source.sent(i, a, a);
      });
}

class Fp32 final : public CompressorOf<Fp32State> {
 public:
  using CompressorOf::CompressorOf;

  std::unique_ptr<State> prepare(const Layout& layout) const override { return std::make_unique<Fp32State>(layout); }
  index_t payload_capacity(const Layout&) const override { return 0; }
  index_t payload_bytes(const Layout& layout, index_t) const override { return 4 * layout.count(); }

  void do_produce(const Exec& exec, int, const Source& source, Fp32State& own, const Context&,
                  Message& message) const override {
    own.finished = false;
    if (source.has_memory()) copy_accumulated(exec, source, source.target);
    message.kind = MessageKind::summable;
    message.dtype = DType::f32;
    message.op = ReduceOp::sum;
    message.count = source.count;
    message.data = source.has_memory() ? source.target : source.gradient;
    message.result = source.target;
  }

  void do_finish(const Exec& exec, const Source& source, Fp32State& own, const Context& context, const Span<float>& out,
                 Verdict& verdict) const override {
    divide_sum(exec, source.target, static_cast<float>(context.ranks), own.bad, out);
    verdict.skip_if(exec, own.bad.unless_zero());
    own.finished = true;
    if (source.has_memory()) empty_memory(exec, source, own.bad.if_zero(), own.sent);
  }

  void do_give_back(const Exec& exec, const Source& source, Fp32State& own, const Message&,
                    const Span<const float>&) const override {
    const bool finished = std::exchange(own.finished, false);  // before finish(), the memory holds a
    if (!finished || !source.has_memory()) return;
    kernels::assign(exec, Span<float>(source.memory, own.sent.size()), own.sent, own.bad.if_zero());
  }
};

Entry fp32() {
  Info info;
  info.name = "fp32";
  info.summary = "dense allreduce of the unchanged gradient; the reference of every comparison";
  info.paper = "Patarasuk & Yuan, Bandwidth optimal all-reduce algorithms, JPDC 2009";
  info.family = Info::Family::control;
  info.property = Info::Property::exact;
  info.rounds = {MessageKind::summable};
  info.reducer = "allreduce";
  info.bytes_formula = "4 n";
  info.passes = 0;
  info.in_place = true;
  return make_entry<Fp32>(info);
}

}  // namespace gradcomp::compressors
