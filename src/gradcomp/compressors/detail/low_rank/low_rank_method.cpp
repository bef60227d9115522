#include "gradcomp/compressors/detail/low_rank/low_rank_method.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "gradcomp/kernels/linear_algebra/householder.hpp"

namespace gradcomp::compressors {
namespace {

/// The layout of the dense steps; empty if there are none.
const Layout& dense_steps(const Layout& bucket, const LowRankRule& rule) {
  static const Layout none;
  return rule.start_step > 0 ? bucket : none;
}

}  // namespace

/// Puts NaN into element 0 of the message if this rank's gradient is not finite.
void poison(const Exec& exec, const Vector<index_t>& bad, const Vector<float>& message) {
  if (message.size() == 0) return;
  Kokkos::parallel_for(
      "gradcomp::compressors::powersgd_poison", IndexRange(exec, 0, 1), KOKKOS_LAMBDA(const index_t) {
        if (bad(0) > 0) message(0) = Kokkos::Experimental::quiet_NaN_v<float>;
      });
}

/// Adds to bad(0) the number of non-finite values in a reduced message: some rank's flag, or an overflow.
void count_non_finite(const Exec& exec, const float* reduced, index_t count, const Vector<index_t>& bad) {
  Kokkos::parallel_for(
      "gradcomp::compressors::powersgd_check", IndexRange(exec, 0, count), KOKKOS_LAMBDA(const index_t i) {
        if (!Source::is_finite(reduced[i])) Kokkos::atomic_add(&bad(0), index_t{1});
      });
}

LowRankRule::LowRankRule(const ParameterValues& options)
    : rank(static_cast<int>(options.integer("rank"))),
      min_rate(options.real("min_rate")),
      start_step(options.integer("start_step")),
      householder(options.text("orthogonalise") == "householder"),
      by_outputs(options.text("matrix") == "authors") {}

LowRankState::LowRankState(const Layout& bucket, const LowRankRule& rule, index_t max_floats)
    : State(bucket),
      plan(bucket, rule.rank, rule.min_rate, [&](const Segment& segment) { return rule.transposes(segment); }),
      whole(dense_steps(bucket, rule), rule.rank, std::numeric_limits<double>::infinity()),
      own("gradcomp::compressors::powersgd::own",
          static_cast<std::size_t>(std::max(max_floats + plan.dense_count(), whole.dense_count()))),
      sum("gradcomp::compressors::powersgd::sum", own.size()) {}

index_t LowRankState::scratch_bytes() const {
  return plan.scratch_bytes() + whole.scratch_bytes() + 8 * static_cast<index_t>(own.size());
}

LowRankMethod::LowRankMethod(Info info, ParameterValues options)
    : CompressorOf(std::move(info), std::move(options)), m_rule(this->options()) {}

FactorCounts LowRankMethod::counts(const Layout& layout) const {
  FactorCounts sum;
  for (const auto& s : layout.segments) {
    const bool factored = kernels::is_factored(s, m_rule.rank, m_rule.min_rate);
    const index_t r = factored ? kernels::factor_rank(s, m_rule.rank) : 0;
    const bool transposed = m_rule.transposes(s);
    sum.p += r * (transposed ? s.columns() : s.rows());
    sum.q += r * (transposed ? s.rows() : s.columns());
    sum.dense += factored ? 0 : s.count;
  }
  return sum;
}

index_t LowRankMethod::payload_bytes(const Layout& layout, index_t) const {
  const FactorCounts sum = counts(layout);
  return size_of(DType::f32) * (m_rule.start_step > 0 ? layout.count() : max_factors(sum) + sum.dense);
}

void LowRankMethod::orthonormalise(const Exec& exec, const Vector<kernels::ColumnMatrix>& columns,
                                   const Span<float>& data) const {
  if (m_rule.householder) return kernels::orthogonalise_householder(exec, columns, data);
  kernels::orthogonalise(exec, columns, data);
}

void LowRankMethod::do_produce(const Exec& exec, int round, const Source& source, LowRankState& own,
                               const Context& context, Message& message) const {
  message = Message{};
  if (round > 0) {
    if (!own.is_dense) project_back(exec, source, own, message);
    return;
  }
  own.finished = false;
  own.is_dense = context.step < m_rule.start_step;
  own.factors = 0;
  own.bad.clear(exec);
  if (own.is_dense) {
    own.whole.accumulate_dense(exec, source, own.own, own.bad.count());
  } else {
    project(exec, source, own, context);
  }
  poison(exec, own.bad.count(), own.own);
  message.count = own.is_dense ? own.layout.count() : own.factors + own.plan.dense_count();
  message.data = own.own.data();
  message.result = own.sum.data();
}

void LowRankMethod::do_consume(const Exec& exec, int round, const Message& message, LowRankState& own,
                               const Context&) const {
  // The first reduced message carries the flags of all ranks, this rank's included.
  if (round == 0) own.bad.clear(exec);
  count_non_finite(exec, static_cast<const float*>(message.result), message.count, own.bad.count());
  if (round == 0 && !own.is_dense) summed(exec, own);
}

void LowRankMethod::do_finish(const Exec& exec, const Source& source, LowRankState& own, const Context& context,
                              const Span<float>& out, Verdict& verdict) const {
  verdict.skip_if(exec, own.bad.unless_zero());
  own.finished = true;
  if (context.host_looks && !own.bad.if_zero().may_open()) return;
  const float share = 1.0f / static_cast<float>(context.ranks);
  if (own.is_dense) {
    own.whole.reconstruct(exec, source, {}, {}, own.sum, share, own.bad.if_zero(), out);
  } else {
    reconstruct(exec, source, own, share, out);
  }
}

/// Matrices: memory = a - out, so `out` is added again. Dense elements were taken whole, and are added from this rank's
/// message. Before finish() has succeeded, the memory still holds a.
void LowRankMethod::do_give_back(const Exec& exec, const Source& source, LowRankState& own, const Message&,
                                 const Span<const float>& out) const {
  const Gate taken = own.bad.if_zero();
  if (!std::exchange(own.finished, false) || !source.has_memory()) return;
  if (own.is_dense) return own.whole.give_back(exec, out, own.own, taken, source.memory);
  own.plan.give_back(exec, out, own.dense(own.own), taken, source.memory);
}

}  // namespace gradcomp::compressors
