#include "gradcomp/exchange/allreduce.hpp"

#include <algorithm>

namespace gradcomp {
namespace {

class Allreduce final : public Reducer {
 public:
  using Reducer::Reducer;

 private:
  RequestPtr exchange(const Exec& exec, const Message& message) override {
    return m_comm.allreduce(exec, message.data, message.result, message.count, message.dtype, message.op);
  }
  void consume(const Exec& exec, int round, const Message& message) override {
    m_compressor.consume(exec, round, message, *m_state, m_context);
  }
  /// The flag of a rank is a NaN that every rank sees in the sum.
  bool decompress(const Exec& exec, const Span<float>& out) override {
    return m_compressor.finish(exec, m_source, *m_state, m_context, out);
  }
};

}  // namespace

std::unique_ptr<Reducer> make_allreduce(const Options&, const Compressor& compressor, const Layout& layout,
                                        Communicator& comm) {
  const auto& rounds = compressor.info().rounds;
  require(std::all_of(rounds.begin(), rounds.end(), [](MessageKind kind) { return kind == MessageKind::summable; }),
          "reducer allreduce: method {} sends bytes, which cannot be summed", compressor.info().name);
  return std::make_unique<Allreduce>(compressor, layout, comm);
}

}  // namespace gradcomp
