#include "gradcomp/exchange/detail/hops.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "gradcomp/exchange/detail/refusals.hpp"
#include "gradcomp/kernels/combine.hpp"

namespace gradcomp {
namespace {

/// Most bytes that a hop brings to be combined.
index_t room_needed(const Sender& sender, const HopPlan& plan) {
  int span = 0;
  for (const Hop& hop : plan.hops) {
    if (hop.combines && hop.from != nobody) span = std::max(span, hop.span);
  }
  if (span == 0) return 0;
  const Layout& layout = sender.stripes()[0].layout;
  const index_t step = sender.compressor().payload_bytes(layout, layout.count());
  return step * span / plan.parts + static_cast<index_t>(sizeof(std::int64_t));  // cuts are between elements
}

}  // namespace

HopPlan binomial_tree(int rank, int ranks) {
  const int depth = std::bit_width(static_cast<unsigned>(ranks - 1));
  HopPlan plan;
  for (int round = 0; round < 2 * depth; ++round) {
    const bool up = round < depth;
    const int stride = 1 << (up ? round : 2 * depth - 1 - round), place = rank % (2 * stride);
    Hop hop;
    if (place == stride) (up ? hop.to : hop.from) = rank - stride;
    if (place == 0 && rank + stride < ranks) (up ? hop.from : hop.to) = rank + stride;
    hop.combines = up;
    plan.hops.push_back(hop);
  }
  return plan;
}

HopReducer::HopReducer(const ReducerSetup& setup, HopPlan plan)
    : Reducer(setup), m_plan(std::move(plan)), m_tag(setup.first_tag) {
  m_received =
      Vector<std::byte>("gradcomp::exchange::hops::received", static_cast<std::size_t>(room_needed(m_sender, m_plan)));
}

Span<std::byte> HopReducer::parts(int first, int span) const {
  const Message& message = m_sender.message();
  const index_t begin = message.count * first / m_plan.parts, end = message.count * (first + span) / m_plan.parts;
  const index_t size = size_of(message.dtype);
  return Span<std::byte>(static_cast<std::byte*>(message.result) + begin * size,
                         static_cast<std::size_t>((end - begin) * size));
}

void HopReducer::launch(const Exec& exec, int round, std::vector<Call>& calls) {
  if (round % hops() == 0) {
    const Message& message = m_sender.produce(exec, round / hops());
    const auto bytes = static_cast<std::size_t>(message.bytes());
    if (message.data != message.result) {
      Kokkos::deep_copy(exec, Span<std::byte>(static_cast<std::byte*>(message.result), bytes),
                        Span<const std::byte>(static_cast<const std::byte*>(message.data), bytes));
    }
  }
  const Hop now = hop(round);
  const Span<std::byte> sent = parts(now.sent, now.span), received = parts(now.received, now.span);
  const auto size = static_cast<index_t>(received.size());
  if (now.to != nobody && sent.size() > 0) {
    calls.push_back(Send{sent.data(), static_cast<index_t>(sent.size()), now.to, m_tag});
  }
  if (now.from != nobody && size > 0) {
    require(!now.combines || received.size() <= m_received.size(), "{}: a message of {} bytes exceeds its capacity",
            m_sender.compressor().info().name, m_sender.message().bytes());
    calls.push_back(Receive{now.combines ? m_received.data() : received.data(), size, now.from, m_tag});
  }
}

void HopReducer::complete(const Exec& exec, int round, std::span<const Found>) {
  const Hop now = hop(round);
  if (now.from != nobody && now.combines) {
    const Message& message = m_sender.message();
    const Span<std::byte> into = parts(now.received, now.span);
    const void *first = into.data(), *second = m_received.data();
    if (now.from < m_rank) std::swap(first, second);
    kernels::combine(exec, message.dtype, message.op, first, second,
                     static_cast<index_t>(into.size()) / size_of(message.dtype), into.data());
  }
  if (round % hops() == hops() - 1) m_sender.consume(exec, round / hops());
}

ReducerEntry hop_entry(const std::string& name, const std::string& summary, HopPlan (*plan)(int rank, int ranks)) {
  ReducerEntry entry;
  entry.name = name;
  entry.summary = summary;
  entry.refusal = refuses_unsummable;
  entry.in_any_order = true;
  entry.make = [plan](const ReducerSetup& setup) {
    return std::make_unique<HopReducer>(setup, plan(setup.rank, setup.ranks));
  };
  return entry;
}

}  // namespace gradcomp
