// fp32: the dense control, an allreduce of the gradient itself.
//
// Message: without a memory, the gradient's own array (nothing is copied); with one, a copy of a that is NaN where the
// gradient is not finite. finish() divides the sum by the ranks and looks for non-finite sums in the same pass. NaN and
// infinity on any rank survive every order of summation, so all ranks see them, and an overflow of the sum. Everything
// is sent, so a residual is zero after each step. Bytes: 4 n. Passes to compress: none.
#include "gradcomp/compressors/detail/dense/dense_mean.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// The sum is formed in the array of the mean. Nothing persists between steps.
class Fp32 final : public Compressor {
 public:
  using Compressor::Compressor;

  std::unique_ptr<State> prepare(const Layout& layout) const override { return std::make_unique<State>(layout); }
  index_t payload_bytes(const Layout& layout, index_t) const override { return 4 * layout.count(); }

  Message produce(const Exec& exec, int, const Step& step, State&) const override {
    const Source& source = step.source;
    if (source.has_memory()) send_accumulated(exec, source, step.mean.data());
    Message message;
    message.count = source.count;
    message.data = source.has_memory() ? step.mean.data() : source.gradient;
    message.result = step.mean.data();
    return message;
  }

  void finish(const Exec& exec, const Step& step, State&) const override {
    divide_sum(exec, step.mean.data(), static_cast<float>(step.context.ranks), step.faults, step.mean);
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
  info.compress = {0, 0, 0};
  info.in_place = true;
  return make_entry<Fp32>(info);
}

}  // namespace gradcomp::compressors
