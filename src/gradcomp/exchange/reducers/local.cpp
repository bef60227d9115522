// local: no communication. Every rank's reduction is its own message; no exchange can be faster than this bound. It is
// the only reducer whose results (mean and flag) differ between ranks.
#include "gradcomp/exchange/detail/refusals.hpp"
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
namespace {

class Local final : public Reducer {
 public:
  using Reducer::Reducer;

  Context adapted(const Context& context) const override {
    Context alone = context;
    alone.ranks = 1;  // finish() divides by it
    return alone;
  }
  void launch(const Exec& exec, int round, std::vector<Call>&) override {
    const Message& message = m_sender.produce(exec, round);
    const auto bytes = static_cast<std::size_t>(message.bytes());
    if (bytes > 0 && message.data != message.result) {
      Kokkos::deep_copy(exec, Span<std::byte>(static_cast<std::byte*>(message.result), bytes),
                        Span<const std::byte>(static_cast<const std::byte*>(message.data), bytes));
    }
  }
  void complete(const Exec& exec, int round, std::span<const Found>) override { m_sender.consume(exec, round); }
  void finish(const Exec& exec) override { m_sender.finish(exec); }
};

}  // namespace

ReducerEntry local() {
  ReducerEntry entry;
  entry.name = "local";
  entry.summary = "sends nothing; `no_exchange` measures a lower bound of the time with it";
  entry.refusal = [](const Info& info) -> std::string {
    return sends_sums(info)
               ? ""
               : fmt::format("it carries messages that can be summed, and method {} sends bytes", info.name);
  };
  entry.in_any_order = true;
  entry.make = [](const ReducerSetup& setup) { return std::make_unique<Local>(setup); };
  return entry;
}

}  // namespace gradcomp::reducers
