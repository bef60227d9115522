// The unbiased low-rank compressor with which PowerSGD's authors compare (Vogels et al. 2019, section 4.1). U, columns
// x r, is random, equal on all ranks and new in every step. M U travels, and receivers take M U U^T / r. The elements
// of U have mean 0 and variance 1 (kernels/linear_algebra/orthogonalise.hpp; nearly normal, fourth moment 3 - 0.15), so
// E U U^T / r = I. The mean squared error is ((columns + 0.85) / r) ||M||^2 (normal elements: columns + 1), which is
// too much for error feedback.
//
// side=alternating: in odd steps U is rows x r, M^T U travels, and receivers take U U^T M / r, with error (rows + 0.85)
// / r. This sends as many bytes as the authors' own runs, which sent one of two factors in turn. Those runs were
// neither random in every step nor unbiased: their code is variant=one_sided:feedback=none.
#include <algorithm>
#include <utility>

#include "gradcomp/compressors/detail/low_rank/low_rank_method.hpp"

namespace gradcomp::compressors {
namespace {

struct UnbiasedState final : LowRankState {
  UnbiasedState(const Layout& bucket, const LowRankRule& rule, index_t max_floats, bool alternating)
      : LowRankState(bucket, rule, max_floats),
        random("gradcomp::compressors::powersgd::u",
               static_cast<std::size_t>(alternating ? std::max(plan.p_count(), plan.q_count()) : plan.q_count())) {}

  index_t scratch_bytes() const override {
    return LowRankState::scratch_bytes() + 4 * static_cast<index_t>(random.size());
  }
  Span<float> u() const { return subspan(Span<float>(random), 0, sends_p ? plan.q_count() : plan.p_count()); }

  Vector<float> random;  ///< U of this step, in an array that is large enough for both sides
  bool sends_p = true;   ///< this step sends M U
};

class Unbiased final : public LowRankMethod {
 public:
  Unbiased(Info info, const ParameterValues& options)
      : LowRankMethod(std::move(info), options), m_alternating(options.text("side") == "alternating") {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<UnbiasedState>(layout, rule(), max_factors(counts(layout)), m_alternating);
  }

 protected:
  index_t max_factors(const FactorCounts& sum) const override { return m_alternating ? std::max(sum.p, sum.q) : sum.p; }

  void project(const Exec& exec, const Source& source, LowRankState& state, const Context& context) const override {
    auto& own = state.as<UnbiasedState>();
    own.sends_p = !m_alternating || context.turn() % 2 == 0;
    own.factors = own.sends_p ? own.plan.p_count() : own.plan.q_count();
    const Span<float> u = own.u();
    Kokkos::deep_copy(exec, u, 0.0f);
    kernels::refill_columns(exec, own.sends_p ? own.plan.q_columns() : own.plan.p_columns(), own.plan.ids(),
                            context.seed, context.step, u);
    if (own.sends_p) {
      own.plan.project(exec, source, u, own.sent(own.own), own.dense(own.own), own.bad());
      return;
    }
    own.plan.accumulate(exec, source, own.dense(own.own), own.bad());
    own.plan.project_back(exec, source, u, own.sent(own.own));
  }

  void reconstruct(const Exec& exec, const Source& source, LowRankState& state, float share,
                   const Span<float>& out) const override {
    auto& own = state.as<UnbiasedState>();
    // Every factored matrix has `rank` columns in its factors: with fewer, the factors would not be smaller than it.
    const Span<float> sent = own.sent(own.sum), u = own.u();
    kernels::scale(exec, sent, share / static_cast<float>(rule().rank));
    own.plan.reconstruct(exec, source, own.sends_p ? sent : u, own.sends_p ? u : sent, own.dense(own.sum), share,
                         own.lost(), out);
  }

 private:
  bool m_alternating;
};

}  // namespace

std::unique_ptr<Compressor> make_unbiased_low_rank(Info info, const ParameterValues& options) {
  info.property = Info::Property::unbiased;
  info.feedback = "none";
  info.feedbacks = {"none"};
  info.rounds = {MessageKind::summable};
  info.fixed_bytes = options.text("side") != "alternating";
  return std::make_unique<Unbiased>(std::move(info), options);
}

}  // namespace gradcomp::compressors
