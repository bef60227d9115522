// no_exchange: no communication. Every rank updates with its own gradient. No exchange can be faster than this bound.
// It is no training method, because the replicas drift apart.
//
// One summable round of zero elements; finish() copies a to the mean. Nothing travels, so no rank learns of another's
// gradient that is not finite, and the run goes on. Bytes: 0.
#include "gradcomp/compressors/detail/dense/dense_mean.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

/// Its run never ends early: it bounds a time, and its replicas disagree anyway.
class NoExchange final : public Compressor {
 public:
  using Compressor::Compressor;

  std::unique_ptr<State> prepare(const Layout& layout) const override { return std::make_unique<State>(layout); }
  index_t payload_bytes(const Layout&, index_t) const override { return 0; }

  Message produce(const Exec&, int, const Step&, State&) const override { return {}; }

  void finish(const Exec& exec, const Step& step, State&) const override {
    const bool fed_back = step.source.has_memory();
    if (fed_back) send_accumulated(exec, step.source, step.mean.data());
    divide_sum(exec, fed_back ? step.mean.data() : step.source.gradient, 1, {}, step.mean);
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
  info.compress = {0, 0, 0};
  info.in_place = true;
  return make_entry<NoExchange>(info);
}

}  // namespace gradcomp::compressors
