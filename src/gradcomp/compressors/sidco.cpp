#include "gradcomp/compressors/sidco.hpp"

#include <optional>

#include "gradcomp/compressors/detail/sidco_stages.hpp"
#include "gradcomp/compressors/detail/sparsifier.hpp"

namespace gradcomp::compressors {
namespace {

struct SidcoState final : SparseState {
  SidcoState(const Layout& bucket, double usual, index_t most, const coders::SparseCoding& coding, bool logs,
             int stages)
      : SparseState(bucket, usual, most, coding, logs),
        tails(tiles),
        history(layout.segments.size()),
        fits(layout.segments.size()),
        thresholds(layout.segments.size()) {
    for (auto& h : history) h.stages = stages;
  }

  Memories memories() override {
    return {{"sidco_history", history.data(), static_cast<index_t>(history.size() * sizeof(SidcoHistory)), true}};
  }
  index_t scratch_bytes() const override { return SparseState::scratch_bytes() + tails.bytes(); }

  kernels::TailSums tails;
  std::vector<SidcoHistory> history;             ///< [segments]
  std::vector<std::optional<SidcoStages>> fits;  ///< [segments] of this step; none: no threshold is searched
  std::vector<float> thresholds;
};

SidcoRule rule_of(const Options& options) {
  SidcoRule rule;
  rule.first = distribution_from_name(options.text("sid"));
  rule.later = rule.first == Distribution::exponential ? Distribution::exponential : Distribution::pareto;
  rule.paper = options.text("variant") == "paper";
  rule.delta1 = options.real("delta1");
  return rule;
}

/// Stages that an adaptive segment starts with: what the gradients of a ResNet-20 need at this density. As in the
/// paper: one.
int first_stages(const SidcoRule& rule, double ratio) { return rule.paper ? 1 : ratio < 0.005 ? 3 : 2; }

}  // namespace

class Sidco final : public Sparsifier {
 public:
  Sidco(Info info, Options options)
      : Sparsifier(std::move(info), std::move(options)),
        m_rule(rule_of(this->options())),
        m_tolerance(this->options().real("tolerance")),
        m_interval(static_cast<int>(this->options().integer("interval"))),
        m_adaptive(this->options().text("stages") == "adaptive"),
        m_stages(m_adaptive ? first_stages(m_rule, density().ratio())
                            : static_cast<int>(this->options().integer("stages"))),
        m_most_stages(std::max(1, static_cast<int>(std::ceil(std::log(density().ratio()) / std::log(0.5))))) {}

 private:
  index_t most_entries(index_t n) const override {
    return most_sent(target_kept(density().most(), n), n, m_rule.paper);
  }

  std::unique_ptr<SparseState> make_state(const Layout& layout) const override {
    return std::make_unique<SidcoState>(layout, density().ratio(), most_kept(layout), coding(),
                                        m_rule.first == Distribution::gamma, m_stages);
  }

  void search(const Exec& exec, const Source& source, SparseState& state, const Context&) const override {
    auto& own = static_cast<SidcoState&>(state);
    for (std::size_t s = 0; s < own.fits.size(); ++s) {
      own.fits[s].reset();
      if (own.open[s] == 0) continue;
      const index_t k = own.history[s].aim(own.target[s], own.first.moments()[s].nonzeros);
      own.fits[s].emplace(m_rule, k, own.first.moments()[s], own.layout.segments[s].count, own.history[s].stages);
    }
    while (next_thresholds(own)) {
      const auto& tails = own.tails.run(exec, own.tiles, source.accumulated(), own.thresholds);
      for (std::size_t s = 0; s < own.fits.size(); ++s) {
        if (own.thresholds[s] >= 0) own.fits[s]->advance(tails[s]);
      }
    }
    for (std::size_t s = 0; s < own.fits.size(); ++s) {
      if (own.fits[s]) choose_above(own.requests[s], own.fits[s]->threshold());
    }
  }

  void record(SparseState& state) const override {
    auto& own = static_cast<SidcoState&>(state);
    for (std::size_t s = 0; s < own.fits.size(); ++s) {
      if (!m_adaptive || !own.fits[s]) continue;
      const double above = static_cast<double>(own.selector.chosen()[s].above);
      own.history[s].record(above / static_cast<double>(own.target[s]), m_interval, m_tolerance, m_most_stages,
                            m_rule.paper);
    }
  }

  /// Thresholds of the segments that have stages to come, -1 for the others; whether there are any.
  static bool next_thresholds(SidcoState& own) {
    bool any = false;
    for (std::size_t s = 0; s < own.fits.size(); ++s) {
      const bool open = own.fits[s] && !own.fits[s]->done();
      own.thresholds[s] = open ? own.fits[s]->threshold() : -1.0f;
      any = any || open;
    }
    return any;
  }

  SidcoRule m_rule;
  double m_tolerance;
  int m_interval;
  bool m_adaptive;
  int m_stages;
  int m_most_stages;  ///< ceil(log2(1 / ratio)): every stage halves the survivors at least
};

Entry sidco() {
  Info info = sparsifier_info(
      "sidco", "top-k by a threshold fitted to the distribution of the gradient",
      "Abdelmoniem, Elzanaty, Alouini & Canini, MLSys 2021",
      {
          ratio_parameter(),
          Parameter::choice("sid", "exponential", {"exponential", "gamma", "pareto"},
                            "distribution fitted first; later stages: exponential, otherwise pareto"),
          Parameter::choice("stages", "adaptive", {"adaptive", "1", "2", "3", "4", "5", "6", "7", "8"},
                            "stages of the fit; adaptive: follows the kept density"),
          variant_parameter("counted survivors, zeros left out, last stage corrected, exact gamma quantile"),
          Parameter::real("delta1", "0.25", 0, 0.9, "share that the first of several stages keeps", true),
          Parameter::integer("interval", "5", 1, 1000000, "calls between two looks at the number of stages"),
          Parameter::real("tolerance", "0.2", 0, 1, "deviation of the mean of kept / k from 1 that changes the stages"),
      });
  info.bytes_formula = "8 kept, kept <= 2 k, k = sum over segments of max(1, floor(ratio n))";
  return make_entry<Sidco>(info);
}

}  // namespace gradcomp::compressors
