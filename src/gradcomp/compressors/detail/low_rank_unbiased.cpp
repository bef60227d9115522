// The unbiased low-rank compressor that PowerSGD's authors compare with (Vogels et al. 2019, section 4.1): random U,
// columns x r, equal on all ranks and new in every step; M U travels, receivers take M U U^T / r. Its elements have
// mean 0 and variance 1 (kernels/orthogonalise.hpp, nearly normal: fourth moment 3 - 0.15), so that E U U^T / r = I.
// The error is ((columns + 0.85) / r) ||M||^2 on average (Gaussian: columns + 1), which error feedback does not bear.
#include <utility>

#include "gradcomp/compressors/detail/low_rank_method.hpp"

namespace gradcomp::compressors {
namespace {

struct UnbiasedState final : LowRankState {
  UnbiasedState(const Layout& bucket, const LowRankRule& rule, index_t most)
      : LowRankState(bucket, rule, most),
        u("gradcomp::compressors::powersgd::u", static_cast<std::size_t>(plan.q_count())) {}

  index_t scratch_bytes() const override { return LowRankState::scratch_bytes() + 4 * plan.q_count(); }

  Vector<float> u;  ///< of this step
};

class Unbiased final : public LowRankMethod {
 public:
  using LowRankMethod::LowRankMethod;

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<UnbiasedState>(layout, rule(), counts(layout).p);
  }

 protected:
  index_t most_factors(const FactorCounts& sum) const override { return sum.p; }

  void project(const Exec& exec, const Source& source, LowRankState& state, const Context& context) const override {
    auto& own = static_cast<UnbiasedState&>(state);
    own.factors = own.plan.p_count();
    Kokkos::deep_copy(exec, own.u, 0.0f);
    kernels::refill_columns(exec, own.plan.q_columns(), own.plan.ids(), context.seed, context.step, own.u);
    own.plan.project(exec, source, own.u, own.sent(own.own), own.dense(own.own), own.bad.count());
  }

  void reconstruct(const Exec& exec, const Source& source, LowRankState& state, float share,
                   const Span<float>& out) const override {
    auto& own = static_cast<UnbiasedState&>(state);
    // every factored matrix has `rank` columns: with fewer, their factors would not be smaller than the matrix
    kernels::scale(exec, own.sent(own.sum), share / static_cast<float>(rule().rank));
    own.plan.reconstruct(exec, source, own.sent(own.sum), own.u, own.dense(own.sum), share, own.bad.if_zero(), out);
  }
};

}  // namespace

std::unique_ptr<Compressor> make_unbiased_low_rank(Info info, const Options& options) {
  info.property = Info::Property::unbiased;
  info.feedback = "none";
  info.feedbacks = {"none"};
  info.rounds = {MessageKind::summable};
  return std::make_unique<Unbiased>(std::move(info), options);
}

}  // namespace gradcomp::compressors
