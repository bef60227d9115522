// sidco: top-k by a threshold from the statistics of the gradient (Abdelmoniem, Elzanaty, Alouini & Canini, An
// efficient statistical-based gradient compression technique, MLSys 2021, algorithm 1; the fits are those of its
// section 2.3).
//
// A sparsity-inducing distribution is fitted to |a|. Its (1 - ratio) quantile is the threshold, which further stages
// refine on the survivors (detail/sparse/sidco_stages.hpp). sid=exponential is the paper's SIDCo-E, sid=gamma its
// SIDCo-GP (later stages fit a generalised Pareto distribution), sid=pareto its SIDCo-P. stages=adaptive checks every
// `interval` calls whether the mean of kept / k has left 1 +- tolerance. If so, it changes the number of stages, which
// is a memory of each segment. (The authors' code has one fixed stage by default, which starves with error feedback.)
//
// variant=fixed (default) adds three things to the paper, which explain a good part of how near it comes to the target.
// First, survivors are counted, and their counts correct the last stage. Second, with integrator=on (default; needs
// stages=adaptive) a running mean of ln(kept / k) of the steps before corrects the k that is asked of the fit. Third,
// the first step starts with the 2 stages (3 below a ratio of 0.005) that the gradients of a ResNet-20 needed.
// integrator=off drops the second one, variant=paper all three.
//
// Guards: if there are at most k nonzeros, they are sent as they are. Segments with fewer than max(1024, 2 / ratio)
// elements, and selections of more than 2 k entries, send the exact top k (variant=paper has no bound of 2 k). Segments
// from 2^20 elements on fit later stages to a sample (kernels/select/tail_sums.hpp).
//
// Payload: that of top_k. Passes: 2 reads and 1 write with the residual; as in top_k, a read to choose; for each stage
// beyond the first up to 1 read, 1/20 in large segments.
#include <algorithm>

#include "gradcomp/compressors/detail/sparse/sidco_search.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
namespace {

SidcoRule rule_of(const ParameterValues& options) {
  SidcoRule rule;
  rule.first = distribution_from_name(options.text("sid"));
  rule.later = rule.first == Distribution::exponential ? Distribution::exponential : Distribution::pareto;
  rule.paper = options.text("variant") == "paper";
  rule.delta1 = options.real("delta1");
  return rule;
}

/// Number of stages with which an adaptive segment starts: the number that the gradients of a ResNet-20 needed at this
/// density, so that the first steps do not starve. The paper starts with one.
int first_stages(const SidcoRule& rule, double ratio) { return rule.paper ? 1 : ratio < 0.005 ? 3 : 2; }

}  // namespace

class Sidco final : public Sparsifier {
 public:
  Sidco(Info info, ParameterValues options)
      : Sparsifier(std::move(info), std::move(options)),
        m_rule(rule_of(this->options())),
        m_tolerance(this->options().real("tolerance")),
        m_interval(static_cast<int>(this->options().integer("interval"))),
        m_adaptive(this->options().text("stages") == "adaptive"),
        m_integrates(!m_rule.paper && this->options().text("integrator") == "on"),
        m_stages(m_adaptive ? first_stages(m_rule, density().ratio())
                            : static_cast<int>(this->options().integer("stages"))),
        m_max_stages(std::max(1, static_cast<int>(std::ceil(std::log(density().ratio()) / std::log(0.5))))) {}

 private:
  index_t max_entries(double density, const Segment& segment) const override {
    return max_sent(density, segment.count, m_rule.paper);
  }

  std::unique_ptr<SparseState> make_state(const Layout& layout) const override {
    return std::make_unique<SidcoState>(layout, density().ratio(), max_kept(layout), coding(),
                                        m_rule.first == Distribution::gamma, m_stages);
  }

  void search(const Exec& exec, const Source& source, SparseState& state, const Context& context) const override {
    auto& own = static_cast<SidcoState&>(state);
    int reads = 0;
    for (std::size_t s = 0; s < own.history.size(); ++s) {
      own.aims(s) = {own.history[s].aim(own.target[s]), own.history[s].stages};
      reads = std::max(reads, SidcoStages::reads(m_rule, own.history[s].stages));
    }
    search_fits(exec, source, own, m_rule, reads, context.host_looks);
  }

  void record(SparseState& state) const override {
    auto& own = static_cast<SidcoState&>(state);
    for (std::size_t s = 0; s < own.history.size(); ++s) {
      if (!m_adaptive || own.searched_for(s) == 0) continue;
      const double ratio = static_cast<double>(own.selector.chosen()(s).above) / static_cast<double>(own.target[s]);
      own.history[s].count(ratio, m_interval, m_tolerance, m_max_stages, m_rule.paper);
      if (m_integrates) own.history[s].integrate(ratio);
    }
  }

  SidcoRule m_rule;
  double m_tolerance;
  int m_interval;
  bool m_adaptive, m_integrates;
  int m_stages;
  int m_max_stages;  ///< ceil(log2(1 / ratio)): every stage at least halves the survivors
};

Entry sidco() {
  Info info = sparsifier_info(
      "sidco", "top-k by a threshold fitted to the distribution of the gradient",
      "Abdelmoniem, Elzanaty, Alouini & Canini, MLSys 2021",
      {
          ratio_parameter(),
          Parameter::choice(
              "sid", "exponential", {"exponential", "gamma", "pareto"},
              "distribution of the first fit (gamma: on the host); later stages: exponential if sid=exponential, "
              "otherwise pareto"),
          Parameter::choice("stages", "adaptive", {"adaptive", "1", "2", "3", "4", "5", "6", "7", "8"},
                            "number of stages of the fit; adaptive: it follows the kept density, from 2 stages on (3 "
                            "below ratio=0.005; variant=paper: from 1)"),
          variant_parameter("counts survivors, ignores zeros, corrects the last stage, uses the exact gamma quantile"),
          Parameter::choice("integrator", "on", {"on", "off"},
                            "variant=fixed with stages=adaptive: corrects k by a running mean of ln(kept / k); not in "
                            "the paper")
              .as_added(),
          Parameter::real("delta1", "0.25", 0, 0.9, "share of entries that the first of several stages keeps", true),
          Parameter::integer("interval", "5", 1, 1000000, "calls from one check of the number of stages to the next"),
          Parameter::real("tolerance", "0.2", 0, 1,
                          "deviation of the mean of kept / k from 1 above which the number of stages changes"),
      });
  info.bytes_formula = "8 kept, kept <= 2 k (variant=paper: no bound), k = sum over segments of max(1, floor(ratio n))";
  return make_entry<Sidco>(info);
}

}  // namespace gradcomp::compressors
