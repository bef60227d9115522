#include "gradcomp/compressors/detail/low_rank/low_rank_method.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "gradcomp/kernels/lanes/check_finite.hpp"
#include "gradcomp/kernels/lanes/mark_sum.hpp"
#include "gradcomp/kernels/linear_algebra/householder.hpp"

namespace gradcomp::compressors {
namespace {

/// The layout of the dense steps; empty if there are none.
const Layout& dense_steps(const Layout& bucket, const LowRankRule& rule) {
  static const Layout none;
  return rule.start_step > 0 ? bucket : none;
}

Info with_bytes(Info info, const ParameterValues& options) {
  info.fixed_bytes = info.fixed_bytes && options.integer("start_step") == 0;
  return info;
}

}  // namespace

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
      sum("gradcomp::compressors::powersgd::sum", own.size()),
      marks("gradcomp::compressors::powersgd::marks", 2) {}

index_t LowRankState::scratch_bytes() const {
  return plan.scratch_bytes() + whole.scratch_bytes() + 8 * static_cast<index_t>(own.size());
}

LowRankMethod::LowRankMethod(Info info, ParameterValues options)
    : Compressor(with_bytes(std::move(info), options), options), m_rule(options) {}

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

Message LowRankMethod::produce(const Exec& exec, int round, const Step& step, State& state) const {
  auto& own = state.as<LowRankState>();
  if (round > 0) return own.is_dense ? Message{} : project_back(exec, step.source, own);
  own.is_dense = step.context.step < m_rule.start_step;
  own.factors = 0;
  if (own.is_dense) {
    own.whole.accumulate_dense(exec, step.source, own.own, own.bad());
  } else {
    project(exec, step.source, own, step.context);
  }
  kernels::mark_sum(exec, own.bad(), Kokkos::Experimental::quiet_NaN_v<float>, own.own);
  Message message;
  message.count = own.is_dense ? own.layout.count() : own.factors + own.plan.dense_count();
  message.data = own.own.data();
  message.result = own.sum.data();
  return message;
}

void LowRankMethod::consume(const Exec& exec, int round, const Message& message, const Step& step, State& state) const {
  auto& own = state.as<LowRankState>();
  const Span<const float> sum(static_cast<const float*>(message.result), static_cast<std::size_t>(message.count));
  kernels::check_sum(exec, sum, own.lost(), step.faults);
  if (round == 0 && !own.is_dense) summed(exec, own);
}

void LowRankMethod::finish(const Exec& exec, const Step& step, State& state) const {
  auto& own = state.as<LowRankState>();
  const float share = 1.0f / static_cast<float>(step.context.ranks);
  if (own.is_dense) {
    own.whole.reconstruct(exec, step.source, {}, {}, own.sum, share, own.lost(), step.mean);
  } else {
    reconstruct(exec, step.source, own, share, step.mean);
  }
}

}  // namespace gradcomp::compressors
