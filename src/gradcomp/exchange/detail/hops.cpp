#include "gradcomp/exchange/detail/hops.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "gradcomp/comm/agree.hpp"
#include "gradcomp/exchange/detail/refusals.hpp"
#include "gradcomp/kernels/lanes/combine.hpp"

namespace gradcomp {
namespace {

/// Largest number of bytes that a hop receives to combine or widen them.
index_t room_needed(const Sender& sender, const HopPlan& plan) {
  int span = 0;
  for (const Hop& hop : plan.hops) {
    if ((hop.combines || hop.as != Width::own) && hop.from != nobody) span = std::max(span, hop.span);
  }
  if (span == 0) return 0;
  const Layout& layout = sender.stripes()[0].layout;
  const index_t step = sender.compressor().payload_bytes(layout, layout.count());
  return step * span / plan.parts + static_cast<index_t>(sizeof(std::int64_t));  // parts are cut between elements
}

bool has_narrow_hops(const HopPlan& plan) {
  return std::any_of(plan.hops.begin(), plan.hops.end(), [](const Hop& hop) { return hop.as != Width::own; });
}

/// Bytes of the message that carries `part` in a hop.
index_t message_bytes(const Hop& hop, const Span<std::byte>& part) {
  const auto bytes = static_cast<index_t>(part.size());
  return hop.as == Width::own ? bytes : narrow_bytes(hop.as, bytes / 4);
}

Span<float> floats(const Span<std::byte>& part) {
  return Span<float>(reinterpret_cast<float*>(part.data()), part.size() / sizeof(float));
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
  if (has_narrow_hops(m_plan)) {
    m_narrowed = Vector<std::byte>("gradcomp::exchange::hops::narrowed", m_received.size() / 2);
  }
}

/// Throws the same error on every rank, because all ranks have the same method.
void HopReducer::check_narrowed(const Message& message) const {
  if (m_narrowed.size() == 0 || (message.dtype == DType::f32 && message.op != ReduceOp::bor)) return;
  throw AgreedError(fmt::format(
      "method {} sends no 32-bit values that a hop could narrow; allowed: reducer.inside=own, reducer.across=own",
      m_sender.compressor().info().name));
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
    check_narrowed(message);
    const auto bytes = static_cast<std::size_t>(message.bytes());
    if (message.data != message.result) {
      Kokkos::deep_copy(exec, Span<std::byte>(static_cast<std::byte*>(message.result), bytes),
                        Span<const std::byte>(static_cast<const std::byte*>(message.data), bytes));
    }
  }
  const Hop now = hop(round);
  const Span<std::byte> sent = parts(now.sent, now.span), received = parts(now.received, now.span);
  const bool narrowed = now.as != Width::own;
  const auto fits = [&](index_t needed, const Vector<std::byte>& room) {
    require(needed <= static_cast<index_t>(room.size()), "{}: a message of {} bytes exceeds its capacity",
            m_sender.compressor().info().name, m_sender.message().bytes());
  };
  if (now.to != nobody && sent.size() > 0) {
    const void* data = sent.data();
    if (narrowed) {
      fits(message_bytes(now, sent), m_narrowed);
      narrow(exec, floats(sent), now.as, !now.combines, m_narrowed.data());
      data = m_narrowed.data();
    }
    calls.push_back(Send{data, message_bytes(now, sent), now.to, m_tag});
  }
  if (now.from != nobody && received.size() > 0) {
    const bool aside = now.combines || narrowed;
    if (aside) fits(message_bytes(now, received), m_received);
    calls.push_back(
        Receive{aside ? m_received.data() : received.data(), message_bytes(now, received), now.from, m_tag});
  }
}

void HopReducer::complete(const Exec& exec, int round, std::span<const Found> found) {
  const Hop now = hop(round);
  const Span<std::byte> received = parts(now.received, now.span);
  if (now.from != nobody && received.size() > 0) {  // the last call was the receive
    const index_t expected = message_bytes(now, received), bytes = found.back().bytes;
    require(bytes == expected, "{}: a message of {} bytes from rank {}; expected: {} bytes",
            m_sender.compressor().info().name, bytes, now.from, expected);
  }
  const Message& message = m_sender.message();
  if (now.from != nobody && now.as != Width::own) {
    widen(exec, m_received.data(), now.as, now.combines, message.op, floats(received));
  } else if (now.from != nobody && now.combines) {
    const void *first = received.data(), *second = m_received.data();
    if (now.from < m_rank) std::swap(first, second);
    kernels::combine(exec, message.dtype, message.op, first, second,
                     static_cast<index_t>(received.size()) / size_of(message.dtype), received.data());
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
