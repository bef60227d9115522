// PowerSGD as its authors wrote it. Round 0 sums P = M Q over the ranks; all ranks make its columns orthonormal in the
// same way. Round 1 sums Q = M^T P; the mean is P Q^T / ranks. Q is kept for the next step, with columns of norm 1:
// only their directions matter, and so products neither overflow nor vanish. variant=cold draws a new Q in every step;
// it is the control with which the authors compare their warm start.
#include <utility>

#include "gradcomp/compressors/detail/low_rank/low_rank_method.hpp"

namespace gradcomp::compressors {
namespace {

struct TwoSidedState final : LowRankState {
  TwoSidedState(const Layout& bucket, const LowRankRule& rule, index_t max_floats)
      : LowRankState(bucket, rule, max_floats),
        own_q("gradcomp::compressors::powersgd::own_q", static_cast<std::size_t>(plan.q_count())),
        sum_q("gradcomp::compressors::powersgd::sum_q", own_q.size()),
        warm_q("gradcomp::compressors::powersgd::warm_q", own_q.size()) {}

  Memories memories() override { return {{"q", warm_q.data(), plan.q_count() * size_of(DType::f32), false}}; }
  index_t scratch_bytes() const override { return LowRankState::scratch_bytes() + 8 * plan.q_count(); }

  Vector<float> own_q, sum_q;  ///< second message
  Vector<float> warm_q;        ///< directions for the next step; a column of zeros is drawn again
};

class TwoSided final : public LowRankMethod {
 public:
  TwoSided(const Info& info, const ParameterValues& options)
      : LowRankMethod(info, options), m_cold(options.text("variant") == "cold") {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<TwoSidedState>(layout, rule(), counts(layout).p);
  }

 protected:
  index_t max_factors(const FactorCounts& sum) const override { return sum.p + sum.q; }

  void project(const Exec& exec, const Source& source, LowRankState& state, const Context& context) const override {
    auto& own = state.as<TwoSidedState>();
    own.factors = own.plan.p_count();
    if (m_cold) Kokkos::deep_copy(exec, own.warm_q, 0.0f);
    kernels::refill_columns(exec, own.plan.q_columns(), own.plan.ids(), context.seed, context.step, own.warm_q);
    own.plan.project(exec, source, own.warm_q, own.sent(own.own), own.dense(own.own), own.bad());
  }

  void summed(const Exec& exec, LowRankState& state) const override {
    auto& own = state.as<TwoSidedState>();
    orthonormalise(exec, own.plan.p_columns(), own.sent(own.sum));
  }

  Message project_back(const Exec& exec, const Source& source, LowRankState& state) const override {
    auto& own = state.as<TwoSidedState>();
    own.plan.project_back(exec, source, own.sent(own.sum), own.own_q);
    Message message;
    message.count = own.plan.q_count();
    message.data = own.own_q.data();
    message.result = own.sum_q.data();
    return message;
  }

  void reconstruct(const Exec& exec, const Source& source, LowRankState& state, float share,
                   const Span<float>& out) const override {
    auto& own = state.as<TwoSidedState>();
    kernels::scale(exec, own.sum_q, share);
    own.plan.reconstruct(exec, source, own.sent(own.sum), own.sum_q, own.dense(own.sum), share, own.lost(), out);
    kernels::normalise_columns(exec, own.plan.q_columns(), own.sum_q, own.lost(), own.warm_q);
  }

 private:
  bool m_cold;  ///< every step starts from random directions
};

}  // namespace

std::unique_ptr<Compressor> make_two_sided(const Info& info, const ParameterValues& options) {
  return std::make_unique<TwoSided>(info, options);
}

}  // namespace gradcomp::compressors
