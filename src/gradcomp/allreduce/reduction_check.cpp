#include "gradcomp/allreduce/reduction_check.hpp"

#include <algorithm>

#include "gradcomp/comm/over_ranks.hpp"
#include "gradcomp/exchange/one_rank.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp {

/// Counts the elements of `mean` that differ from `expected` by more than rounding. `size` is the magnitude of what was
/// added; the roundings of partial sums may reach the share `of_size` of it.
index_t count_wrong(const Exec& exec, const Span<const float>& expected, const Span<const float>& size,
                    const Span<const float>& mean, float relative, float of_size = 1e-6f) {
  index_t wrong = 0;
  Kokkos::parallel_reduce(
      "gradcomp::exchange::count_wrong", IndexRange(exec, 0, static_cast<index_t>(mean.size())),
      KOKKOS_LAMBDA(const index_t i, index_t& count) {
        const float tolerance = 1e-5f + relative * Kokkos::abs(expected(i)) + of_size * size(i);
        count += Kokkos::abs(mean(i) - expected(i)) <= tolerance ? 0 : 1;  // counts NaN too
      },
      wrong);
  return wrong;
}

/// Counts the elements of `mean` that are neither -1 nor +1.
index_t count_no_signs(const Exec& exec, const Span<const float>& mean) {
  index_t wrong = 0;
  Kokkos::parallel_reduce(
      "gradcomp::exchange::count_no_signs", IndexRange(exec, 0, static_cast<index_t>(mean.size())),
      KOKKOS_LAMBDA(const index_t i, index_t& count) { count += Kokkos::abs(mean(i)) == 1.0f ? 0 : 1; }, wrong);
  return wrong;
}

/// x = (a - left) / ranks, which is what this rank's messages add to the mean; `before` still has the memories from
/// before the step. For ef21 x = h / ranks, to which all messages so far add up. size = |a| / ranks.
void sent_share(const Exec& exec, const Source& before, const float* left, int ranks, const Span<float>& x,
                const Span<float>& size) {
  const float share = 1.0f / static_cast<float>(ranks);
  const bool differences = before.kind == Source::Kind::ef21;
  Kokkos::parallel_for(
      "gradcomp::exchange::sent_share", IndexRange(exec, 0, before.count), KOKKOS_LAMBDA(const index_t i) {
        bool good = true;
        const float a = before.accumulate(i, good);
        x(i) = (differences ? left[i] : a - left[i]) * share;
        size(i) = Kokkos::abs(a) * share;
      });
}

/// x += then - now; a null `then` counts as zeros.
void add_change(const Exec& exec, const Span<float>& x, const float* then, const float* now) {
  Kokkos::parallel_for(
      "gradcomp::exchange::add_change", IndexRange(exec, 0, static_cast<index_t>(x.size())),
      KOKKOS_LAMBDA(const index_t i) { x(i) += (then == nullptr ? 0.0f : then[i]) - now[i]; });
}

namespace {

void add_over_ranks(Transport& control, const Exec& exec, const Vector<float>& x) {
  run(control, exec, AllReduce{x.data(), x.data(), static_cast<index_t>(x.size()), DType::f32, ReduceOp::sum});
}

}  // namespace

ReductionCheck::ReductionCheck(const Exec& exec, const MethodSpec& method, const Layout& layout,
                               const Span<const float>& gradient, Exchange& exchange, Transport& control,
                               const ExchangeOptions& options)
    : m_exec(exec),
      m_method(method),
      m_layout(layout),
      m_gradient(gradient),
      m_exchange(exchange),
      m_control(control),
      m_options(options) {
  if (method.common.text("feedback") == "none") return;
  const Memories all = exchange.memories();
  for (std::size_t b = 0; b < exchange.buckets().size(); ++b) {
    m_before.emplace_back(method.common, exchange.buckets()[b].count);
    const MemoryView* const owned = find(all, Role::owner_residual, static_cast<int>(b));
    m_owned.emplace_back("gradcomp::exchange::owned",
                         static_cast<std::size_t>(owned == nullptr ? 0 : owned->bytes / 4));
  }
}

void ReductionCheck::before() {
  const Memories all = m_exchange.memories();
  for (std::size_t b = 0; b < m_before.size(); ++b) {
    const int bucket = static_cast<int>(b);
    for (const MemoryView& kept : m_before[b].memories()) copy(m_exec, *find(all, kept.role, bucket), kept);
    if (m_owned[b].size() > 0) {
      copy(m_exec, *find(all, Role::owner_residual, bucket), memory_of(Role::owner_residual, m_owned[b]));
    }
  }
}

index_t ReductionCheck::wrong(std::int64_t step, const Span<const float>& mean) const {
  if (m_method.common.text("reducer") == "local") return 0;
  if (m_method.common.text("feedback") != "none") return unbalanced(mean);
  const Info& info = m_method.compressor->info();
  index_t wrong = other_than_again(step, mean);
  if (info.property == Info::Property::sign) wrong += over_ranks(count_no_signs(m_exec, mean));
  if (!info.takes("residual")) return wrong;
  const MethodSpec remembers = parse_method(with_option(m_method.text, "feedback", "residual"));
  const auto exchange = make_exchange(remembers, m_layout, m_control, m_options);
  ReductionCheck first(m_exec, remembers, m_layout, m_gradient, *exchange, m_control, m_options);
  const Vector<float> out("gradcomp::exchange::out", mean.size());
  try {
    reduce(*exchange, 0, out);
  } catch (const Error& error) {  // all ranks throw before any message: values are scaled up
    if (std::string(error.what()).find("feedback=none") == std::string::npos) throw;
    return wrong;
  }
  return wrong + first.wrong(0, out);
}

void ReductionCheck::reduce(Exchange& exchange, std::int64_t step, const Span<float>& out) const {
  exchange.begin(m_exec, m_gradient, out, {m_options.seed, step, m_control.rank(), m_control.size()}, nullptr);
  exchange.gradient_ready(m_exec, 0);
  exchange.finish(m_exec);
}

/// Counts the elements for which the identity of error feedback does not hold.
index_t ReductionCheck::unbalanced(const Span<const float>& mean) const {
  const Vector<float> expected("gradcomp::exchange::expected", mean.size());
  const Vector<float> size("gradcomp::exchange::size", mean.size());
  const Memories all = m_exchange.memories();
  const auto& buckets = m_exchange.buckets();
  const int ranks = m_control.size();
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    const auto [first, last, offset, count] = buckets[b];
    const auto own = subspan<float>(expected, offset, count);
    const Source source = m_before[b].source(m_exec, subspan<const float>(m_gradient, offset, count), ranks);
    const auto* const left =
        static_cast<const float*>(find(all, m_before[b].memories().front().role, static_cast<int>(b))->data);
    sent_share(m_exec, source, left, ranks, own, subspan<float>(size, offset, count));
    if (m_owned[b].size() == 0) continue;
    const auto stripes =
        cut_stripes(seen_by(m_method, m_layout.slice(first, last)), m_method.compressor->info().granule, ranks);
    const auto part = part_of(own, stripes[static_cast<std::size_t>(m_control.rank())]);
    const auto* const now = static_cast<const float*>(find(all, Role::owner_residual, static_cast<int>(b))->data);
    const bool differences = source.kind == Source::Kind::ef21;  // of all steps, from an empty residual on
    add_change(m_exec, part, differences ? nullptr : m_owned[b].data(), now);
  }
  add_over_ranks(m_control, m_exec, expected);
  add_over_ranks(m_control, m_exec, size);
  // The residual does not contain the rounding of 16-bit sums: half a unit in the last place of bf16, after each term
  // by a library's rule and in hops.
  const std::string& reducer = m_method.common.text("reducer");
  const bool levels = reducer == "hierarchical" && (m_method.common.text("reducer.inside") != "own" ||
                                                    m_method.common.text("reducer.across") != "own");
  const bool rounds = m_method.compressor->info().property == Info::Property::rounding || levels;
  if (!rounds) return over_ranks(count_wrong(m_exec, expected, size, mean, 1e-4f));
  const bool each_term = reducer != "rank_order";
  const float rounding = 0x1p-8f * static_cast<float>(each_term ? 2 * ranks : 1);
  return over_ranks(count_wrong(m_exec, expected, size, mean, rounding, each_term ? rounding : 1e-6f));
}

/// Without a memory, only the same steps tell what the mean must be.
index_t ReductionCheck::other_than_again(std::int64_t step, const Span<const float>& mean) const {
  const auto exchange = make_exchange(m_method, m_layout, m_control, m_options);
  const Vector<float> out("gradcomp::exchange::out", mean.size());
  for (std::int64_t s = exchange->memories().empty() ? step : 0; s <= step; ++s) reduce(*exchange, s, out);
  return over_ranks(count_wrong(m_exec, out, out, mean, 1e-4f));
}

index_t ReductionCheck::over_ranks(index_t own) const { return sum_over_ranks(m_control, {own})[0]; }

}  // namespace gradcomp
