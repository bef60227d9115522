#include "conformance/simulated_rank.hpp"

#include "conformance/cases.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/quantise/casts.hpp"

namespace gradcomp::conformance {
namespace {

bool counting = false;
int allocations = 0;

void count_allocation(Kokkos::Profiling::SpaceHandle, const char* label, const void*, std::uint64_t) {
  // Kokkos's own scratch for reductions and scans grows once and does not belong to a method.
  if (counting && std::string(label).rfind("Kokkos::", 0) != 0) ++allocations;
}

/// Runs a compressor's function and counts its device allocations.
template <class Function>
auto watched(const Function& function) {
  struct Scope {
    Scope() { counting = true; }
    ~Scope() { counting = false; }
  } scope;
  return function();
}

/// T(sum over ranks), element by element and in rank order. The additions are in Wide.
template <class T, class Wide, class Widen, class Narrow>
void reduce(std::vector<SimulatedRank>& ranks, const Widen& widen, const Narrow& narrow) {
  const index_t count = ranks[0].message.count;
  const ReduceOp op = ranks[0].message.op;
  std::vector<Wide> total(static_cast<std::size_t>(count));
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const auto own = to_host<T>(static_cast<const T*>(ranks[r].message.data), count);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const Wide value = widen(own[i]);
      total[i] = r == 0 ? value : op == ReduceOp::max ? std::max(total[i], value) : static_cast<Wide>(total[i] + value);
    }
  }
  std::vector<T> result(total.size());
  for (std::size_t i = 0; i < total.size(); ++i) result[i] = narrow(total[i]);
  for (auto& rank : ranks) to_device(result, static_cast<T*>(rank.message.result));
}

template <class T>
void reduce(std::vector<SimulatedRank>& ranks) {
  const auto same = [](T value) { return value; };
  reduce<T, T>(ranks, same, same);
}

void allreduce(std::vector<SimulatedRank>& ranks) {
  const Message& first = ranks[0].message;
  for (const auto& rank : ranks) {
    require(rank.message.kind == first.kind && rank.message.dtype == first.dtype && rank.message.op == first.op &&
                rank.message.count == first.count,
            "ranks disagree about the message");
  }
  if (first.count == 0) return;
  switch (first.dtype) {
    case DType::f32:
      return reduce<float>(ranks);
    case DType::f16:
      return reduce<std::uint16_t, float>(ranks, kernels::Half::decode, kernels::Half::encode);
    case DType::bf16:
      return reduce<std::uint16_t, float>(ranks, kernels::Bfloat::decode, kernels::Bfloat::encode);
    case DType::i8:
      return reduce<std::int8_t>(ranks);
    case DType::i32:
      return reduce<std::int32_t>(ranks);
    case DType::i64:
      return reduce<std::int64_t>(ranks);
    case DType::u8:
      return reduce<std::uint8_t>(ranks);
  }
}

/// out = the sum of decoded / ranks on every rank, for all payloads in rank order.
void gather(const Exec& exec, std::vector<SimulatedRank>& ranks, const std::vector<Context>& contexts,
            const std::vector<Faults>& faults) {
  const float weight = 1.0f / static_cast<float>(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    SimulatedRank& own = ranks[r];
    own.out.fill(7);  // which must not be read
    std::vector<Received> messages;
    for (std::size_t p = 0; p < ranks.size(); ++p) {
      const Message& message = ranks[p].message;
      const Span<const std::byte> payload(message.payload.data(), static_cast<std::size_t>(message.size));
      messages.push_back({payload, contexts[p], weight, faults[r].counts()});
    }
    watched([&] { own.compressor->decode_sum(exec, messages, *own.state, own.out.span()); });
  }
}

void record(const SimulatedRank& rank, std::vector<std::byte>& log, std::vector<index_t>& kept) {
  const Message& m = rank.message;
  const void* data = m.kind == MessageKind::bytes ? m.payload.data() : m.data;
  const auto bytes = to_host<std::byte>(static_cast<const std::byte*>(data), m.bytes());
  log.insert(log.end(), bytes.begin(), bytes.end());
  if (m.kind != MessageKind::bytes) return;
  PayloadHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  kept.push_back(static_cast<index_t>(header.kept));
}

}  // namespace

SimulatedRank::SimulatedRank(const MethodSpec& method, const Layout& layout)
    : compressor(method.compressor),
      count(layout.count()),
      state(compressor->prepare(layout)),
      feedback(method.common, count),
      gradient("gradcomp::conformance::gradient", static_cast<std::size_t>(count)),
      out(count) {}

void SimulatedRank::set_gradient(const std::vector<float>& values) { to_device(values, gradient.data()); }

std::vector<float> SimulatedRank::memory() const {
  const Source s = source();
  return s.has_memory() ? to_host<float>(s.memory, count) : std::vector<float>{};
}

std::vector<float> SimulatedRank::accumulated() const {
  auto a = to_host<float>(gradient.data(), count);
  const auto r = memory();
  for (std::size_t i = 0; i < r.size(); ++i) a[i] = Source::is_finite(a[i]) ? r[i] + a[i] : r[i];
  return a;
}

std::vector<SimulatedRank> make_ranks(const MethodSpec& method, const Layout& layout, int count) {
  std::vector<SimulatedRank> ranks;
  for (int r = 0; r < count; ++r) ranks.emplace_back(method, layout);
  return ranks;
}

void set_gradients(std::vector<SimulatedRank>& ranks, const std::string& name, std::uint64_t seed) {
  for (std::size_t r = 0; r < ranks.size(); ++r)
    ranks[r].set_gradient(make_data(name, ranks[r].count, seed + 1000 * r));
}

StepResult run_step(std::vector<SimulatedRank>& ranks, std::int64_t step, std::uint64_t seed) {
  Kokkos::Tools::Experimental::set_allocate_data_callback(count_allocation);
  allocations = 0;
  const Exec exec;
  const auto& compressor = *ranks[0].compressor;
  std::vector<Context> contexts;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    contexts.push_back({seed, step, static_cast<int>(r), static_cast<int>(ranks.size())});
  std::vector<Faults> faults(ranks.size());
  const auto step_of = [&](std::size_t r) { return ranks[r].step(contexts[r], faults[r].counts()); };
  StepResult result;
  result.messages.resize(ranks.size());
  for (int round = 0; round < compressor.rounds(); ++round) {
    const MessageKind declared = compressor.info().rounds[static_cast<std::size_t>(round)];
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      SimulatedRank& w = ranks[r];
      w.message = watched([&] { return compressor.produce(exec, round, step_of(r), *w.state); });
      exec.fence("gradcomp::conformance::produced");
      require(w.message.kind == declared, "{}: round {} has another kind than declared", compressor.info().name, round);
      record(w, result.messages[r], result.kept);
    }
    if (declared == MessageKind::bytes) continue;
    allreduce(ranks);
    for (std::size_t r = 0; r < ranks.size(); ++r)
      watched([&] { compressor.consume(exec, round, ranks[r].message, step_of(r), *ranks[r].state); });
  }
  if (compressor.rounds() == 1 && compressor.info().rounds[0] == MessageKind::bytes) {
    gather(exec, ranks, contexts, faults);
  } else {
    for (std::size_t r = 0; r < ranks.size(); ++r)
      watched([&] { compressor.finish(exec, step_of(r), *ranks[r].state); });
  }
  exec.fence("gradcomp::conformance::step");
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    faults[r].fetch(exec);
    if (faults[r].diverged()) ++result.diverged;
    result.out.push_back(ranks[r].out.values());
  }
  result.allocations = allocations;
  return result;
}

}  // namespace gradcomp::conformance
