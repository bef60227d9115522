#include "verify.hpp"

#include <algorithm>
#include <limits>

#include "gradcomp/core/error.hpp"

namespace gradcomp::bench {
namespace {

constexpr index_t nowhere = std::numeric_limits<index_t>::max();

/// The smallest index for which `bad(i)` holds, or `nowhere`.
template <class Bad>
index_t first_bad(const Exec& exec, index_t count, const Bad& bad) {
  index_t first = nowhere;
  Kokkos::parallel_reduce(
      "gradcomp::bench::first_bad", IndexRange(exec, 0, count),
      KOKKOS_LAMBDA(const index_t i, index_t& found) {
        if (bad(i) && i < found) found = i;
      },
      Kokkos::Min<index_t>(first));
  return first;
}

/// Methods of signs leave no residual, so only the form of the decoded values is checked.
void verify_signs(const Exec& exec, const Span<const float>& decoded) {
  const index_t wrong = first_bad(
      exec, static_cast<index_t>(decoded.size()),
      KOKKOS_LAMBDA(const index_t i) { return Kokkos::abs(decoded(i)) != 1.0f; });
  require(wrong == nowhere, "wrong answer: element {} is not decoded as a sign", wrong);
}

}  // namespace

void KeptState::keep(const Exec& exec, OneRank& loop) {
  m_bytes.clear();
  exec.fence("gradcomp::bench::keep");
  for (const MemoryView& memory : loop.sender().state().memories()) {
    auto& kept = m_bytes.emplace_back(static_cast<std::size_t>(memory.bytes));
    const auto* const data = static_cast<const std::byte*>(memory.data);
    if (memory.on_host) {
      std::copy(data, data + kept.size(), kept.begin());
    } else {
      Kokkos::deep_copy(HostSpan<std::byte>(kept.data(), kept.size()), Span<const std::byte>(data, kept.size()));
    }
  }
}

void KeptState::restore(OneRank& loop) const {
  const Memories memories = loop.sender().state().memories();
  require(memories.size() == m_bytes.size(), "the method has {} memories, but {} were kept", memories.size(),
          m_bytes.size());
  for (std::size_t m = 0; m < m_bytes.size(); ++m) {
    const auto& kept = m_bytes[m];
    auto* const data = static_cast<std::byte*>(memories[m].data);
    if (memories[m].on_host) {
      std::copy(kept.begin(), kept.end(), data);
    } else {
      Kokkos::deep_copy(Span<std::byte>(data, kept.size()), HostSpan<const std::byte>(kept.data(), kept.size()));
    }
  }
}

MethodSpec remembering(const MethodSpec& method) {
  if (!method.compressor->info().takes("residual")) return method;
  MethodSpec spec = method;
  spec.common = ParameterValues("gradcomp-bench", common_parameters(method.compressor->info()),
                                {{"feedback", "residual"}, {"granularity", method.common.text("granularity")}});
  return spec;
}

void verify_identity(const Exec& exec, const Span<const float>& gradient, const Span<const float>& decoded,
                     const Span<const float>& memory) {
  // memory = fl(a - decoded) differs from a - decoded by at most half a unit in the last place, and so does the sum
  // here. The comparison is written so that NaN fails it.
  const index_t wrong = first_bad(
      exec, static_cast<index_t>(gradient.size()), KOKKOS_LAMBDA(const index_t i) {
        const double difference = static_cast<double>(decoded(i)) + static_cast<double>(memory(i)) - gradient(i);
        const double size = Kokkos::abs(decoded(i)) + Kokkos::abs(gradient(i));
        return !(Kokkos::abs(difference) <= 1.2e-7 * static_cast<double>(size) + 1e-44);
      });
  if (wrong == nowhere) return;
  const auto at = static_cast<std::size_t>(wrong);
  const auto value = [&](const Span<const float>& span) {
    float host = 0;
    Kokkos::deep_copy(exec, Kokkos::View<float, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&host),
                      Kokkos::subview(span, at));
    exec.fence("gradcomp::bench::verify");
    return host;
  };
  throw Error(fmt::format("wrong answer: element {}: decoded {} + kept {} is not {}", wrong, value(decoded),
                          value(memory), value(gradient)));
}

void verify(const Exec& exec, const OneRank& timed, const MethodSpec& method, const Layout& layout,
            const Span<const float>& gradient, std::uint64_t seed, const KeptState& start) {
  const Span<const float> decoded(timed.out().data(), timed.out().size());
  if (timed.has_memory()) return verify_identity(exec, gradient, decoded, timed.memory());
  if (method.compressor->info().property == Info::Property::sign) verify_signs(exec, decoded);

  const auto run = [&](const MethodSpec& spec, const KeptState* state) {
    auto loop = std::make_unique<OneRank>(spec, layout, seed);
    if (state != nullptr) state->restore(*loop);
    loop->compress(exec, gradient);
    loop->decompress(exec);
    return loop;
  };
  if (method.compressor->info().takes("residual")) {  // another run, since feedback may scale what is decoded
    const auto fed_back = run(remembering(method), nullptr);
    verify_identity(exec, gradient, Span<const float>(fed_back->out().data(), fed_back->out().size()),
                    fed_back->memory());
  }
  const auto second_run = run(method, &start);
  const OneRank& second = *second_run;
  const Span<const float> again(second.out().data(), second.out().size());
  const index_t differs = first_bad(
      exec, static_cast<index_t>(gradient.size()),
      KOKKOS_LAMBDA(const index_t i) { return !(decoded(i) == again(i)); });
  require(differs == nowhere, "wrong answer: element {} differs between two runs of the same input", differs);
}

}  // namespace gradcomp::bench
