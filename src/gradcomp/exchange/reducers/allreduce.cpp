// allreduce: one to three summable rounds, each of which is one allreduce. It carries dense, linear and low-rank
// methods.
#include "gradcomp/exchange/detail/refusals.hpp"
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
namespace {

class Allreduce final : public Reducer {
 public:
  using Reducer::Reducer;

  void launch(const Exec& exec, int round, std::vector<Call>& calls) override {
    const Message& m = m_sender.produce(exec, round);
    calls.push_back(AllReduce{m.data, m.result, m.count, m.dtype, m.op});
  }
  void complete(const Exec& exec, int round, std::span<const Found>) override { m_sender.consume(exec, round); }
  void finish(const Exec& exec) override { m_sender.finish(exec); }
};

}  // namespace

ReducerEntry allreduce() {
  ReducerEntry entry;
  entry.name = "allreduce";
  entry.summary = "adds messages over all ranks; the library of the transport decides in which order";
  entry.refusal = refuses_unsummable;
  entry.make = [](const ReducerSetup& setup) { return std::make_unique<Allreduce>(setup); };
  return entry;
}

}  // namespace gradcomp::reducers
