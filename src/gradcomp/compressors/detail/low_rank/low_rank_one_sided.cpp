// ACP-SGD (Zhang, Zhang, Shi, Chu, Evaluation and optimization of gradient compression for distributed deep learning,
// ICDCS 2023, section IV): each step makes one half of a PowerSGD step, in turn. An even step makes the columns of Q
// from the last odd step orthonormal and sums P = M Q. An odd step makes those of P orthonormal and sums Q = M^T P. In
// both, the mean is P Q^T / ranks. So a step has one allreduce, and two steps send half of the bytes of PowerSGD.
//
// Both factors are kept as directions, with columns of norm 1. A column of zeros (from a gradient of zeros or of lower
// rank) is drawn again in the step that projects on it, before the columns are made orthonormal.
#include <algorithm>
#include <utility>

#include "gradcomp/compressors/detail/low_rank/low_rank_method.hpp"

namespace gradcomp::compressors {
namespace {

struct OneSidedState final : LowRankState {
  OneSidedState(const Layout& bucket, const LowRankRule& rule, index_t max_floats)
      : LowRankState(bucket, rule, max_floats),
        p("gradcomp::compressors::powersgd::p", static_cast<std::size_t>(plan.p_count())),
        q("gradcomp::compressors::powersgd::q", static_cast<std::size_t>(plan.q_count())) {}

  Memories memories() override {
    return {{"p", p.data(), plan.p_count() * size_of(DType::f32), false},
            {"q", q.data(), plan.q_count() * size_of(DType::f32), false}};
  }

  /// Columns of the factor that is sent, and of the factor on which the gradient is projected.
  const Vector<kernels::ColumnMatrix>& sent_columns() const { return even ? plan.p_columns() : plan.q_columns(); }
  const Vector<kernels::ColumnMatrix>& basis_columns() const { return even ? plan.q_columns() : plan.p_columns(); }
  Span<float> basis() const { return even ? q : p; }
  Span<float> next_basis() const { return even ? p : q; }

  Vector<float> p, q;
  bool even = true;  ///< this step sends P
};

class OneSided final : public LowRankMethod {
 public:
  using LowRankMethod::LowRankMethod;

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<OneSidedState>(layout, rule(), max_factors(counts(layout)));
  }

 protected:
  index_t max_factors(const FactorCounts& sum) const override { return std::max(sum.p, sum.q); }

  void project(const Exec& exec, const Source& source, LowRankState& state, const Context& context) const override {
    auto& own = state.as<OneSidedState>();
    own.even = context.turn() % 2 == 0;
    own.factors = own.even ? own.plan.p_count() : own.plan.q_count();
    kernels::refill_columns(exec, own.basis_columns(), own.plan.ids(), context.seed, context.step, own.basis());
    orthonormalise(exec, own.basis_columns(), own.basis());
    if (own.even) {
      own.plan.project(exec, source, own.q, own.sent(own.own), own.dense(own.own), own.bad());
      return;
    }
    own.plan.accumulate(exec, source, own.dense(own.own), own.bad());
    own.plan.project_back(exec, source, own.p, own.sent(own.own));
  }

  void reconstruct(const Exec& exec, const Source& source, LowRankState& state, float share,
                   const Span<float>& out) const override {
    auto& own = state.as<OneSidedState>();
    const Span<float> sent = own.sent(own.sum), basis = own.basis();
    const Span<float>&p = own.even ? sent : basis, &q = own.even ? basis : sent;
    kernels::scale(exec, sent, share);
    own.plan.reconstruct(exec, source, p, q, own.dense(own.sum), share, own.lost(), out);
    kernels::normalise_columns(exec, own.sent_columns(), sent, own.lost(), own.next_basis());
  }
};

}  // namespace

std::unique_ptr<Compressor> make_one_sided(Info info, const ParameterValues& options) {
  info.rounds = {MessageKind::summable};
  info.fixed_bytes = false;
  return std::make_unique<OneSided>(std::move(info), options);
}

}  // namespace gradcomp::compressors
