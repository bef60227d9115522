#include "gradcomp/exchange/local.hpp"

#include <algorithm>

namespace gradcomp {
namespace {

class Local final : public Reducer {
 public:
  using Reducer::Reducer;

 private:
  RequestPtr exchange(const Exec& exec, const Message& message) override {
    m_context.ranks = 1;  // what finish() divides by
    const auto begin = Request::Clock::now();
    const auto bytes = static_cast<std::size_t>(message.bytes());
    if (bytes > 0 && message.data != message.result) {
      Kokkos::deep_copy(exec, Span<std::byte>(static_cast<std::byte*>(message.result), bytes),
                        Span<const std::byte>(static_cast<const std::byte*>(message.data), bytes));
    }
    return std::make_unique<FinishedRequest>(begin);
  }
  void consume(const Exec& exec, int round, const Message& message) override {
    m_compressor.consume(exec, round, message, *m_state, m_context);
  }
  bool decompress(const Exec& exec, const Span<float>& out) override {
    return m_compressor.finish(exec, m_source, *m_state, m_context, out);
  }
};

}  // namespace

std::unique_ptr<Reducer> make_local(const Options&, const Compressor& compressor, const Layout& layout,
                                    Communicator& comm) {
  const auto& rounds = compressor.info().rounds;
  require(std::all_of(rounds.begin(), rounds.end(), [](MessageKind kind) { return kind == MessageKind::summable; }),
          "reducer local: method {} sends bytes", compressor.info().name);
  return std::make_unique<Local>(compressor, layout, comm);
}

}  // namespace gradcomp
