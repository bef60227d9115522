#include "gradcomp/compressors/sidco.hpp"

#include <optional>

#include "gradcomp/compressors/detail/sidco_stages.hpp"
#include "gradcomp/compressors/detail/sparse_state.hpp"

namespace gradcomp::compressors {
namespace {

/// Most entries of a segment.
index_t capacity_of(double ratio, index_t n) { return std::min(n, 2 * target_kept(ratio, n)); }

index_t capacity_of(double ratio, const Layout& layout) {
  index_t total = 0;
  for (const auto& segment : layout.segments) total += capacity_of(ratio, segment.count);
  return total;
}

struct SidcoState final : SparseState {
  SidcoState(const Layout& bucket, double ratio, index_t capacity, int stages)
      : SparseState(bucket, ratio, capacity),
        tails(tiles),
        history(layout.segments.size()),
        fits(layout.segments.size()),
        thresholds(layout.segments.size()) {
    for (auto& h : history) h.stages = stages;
  }

  std::vector<StateView> persistent() override {
    return {{"sidco_history", history.data(), static_cast<index_t>(history.size() * sizeof(SidcoHistory)), true}};
  }
  index_t scratch_bytes() const override { return SparseState::scratch_bytes() + tails.bytes(); }

  kernels::TailSums tails;
  std::vector<SidcoHistory> history;             ///< [segments]
  std::vector<std::optional<SidcoStages>> fits;  ///< [segments] of this step; none: no threshold is searched
  std::vector<float> thresholds;
};

}  // namespace

class Sidco final : public Compressor {
 public:
  Sidco(Info info, Options options)
      : Compressor(std::move(info), std::move(options)),
        m_ratio(this->options().real("ratio")),
        m_delta1(this->options().real("delta1")),
        m_tolerance(this->options().real("tolerance")),
        m_interval(static_cast<int>(this->options().integer("interval"))),
        m_adaptive(this->options().text("stages") == "adaptive"),
        m_stages(m_adaptive ? 1 : static_cast<int>(this->options().integer("stages"))),
        m_most_stages(std::max(1, static_cast<int>(std::ceil(std::log(m_ratio) / std::log(0.5))))) {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<SidcoState>(layout, m_ratio, payload_capacity(layout), m_stages);
  }
  index_t payload_capacity(const Layout& layout) const override {
    return payload_header_bytes + coders::sparse_bytes(capacity_of(m_ratio, layout));
  }
  index_t payload_bytes(const Layout&, index_t kept) const override { return coders::sparse_bytes(kept); }

  void produce(const Exec& exec, int, const Source& source, State& state, const Context&,
               Message& message) const override {
    auto& own = static_cast<SidcoState&>(state);
    own.first.run(exec, own.tiles, source);
    if (own.first.non_finite() > 0) {
      send_flag(exec, own, header(source.count, 0), message);
      return;
    }
    for (std::size_t s = 0; s < own.fits.size(); ++s) begin_segment(own, s);
    search(exec, source, own);
    send_chosen(exec, source, own, header(source.count, 0), message);
    for (std::size_t s = 0; s < own.fits.size(); ++s) {
      if (!m_adaptive || !own.fits[s]) continue;
      const double above = static_cast<double>(own.selector.chosen()[s].above);
      own.history[s].record(above / static_cast<double>(own.target[s]), m_interval, m_tolerance, m_most_stages);
    }
  }

  void decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, State& state,
                  const Span<float>& out) const override {
    coders::decode_sparse(exec, payload, header(state.layout.count(), 0), capacity_of(m_ratio, state.layout), weight,
                          out);
  }

 private:
  /// First stage of one segment, or the guard that makes one needless.
  void begin_segment(SidcoState& own, std::size_t s) const {
    const index_t k = own.target[s], n = own.layout.segments[s].count;
    const auto& moments = own.first.moments()[s];
    auto& request = own.requests[s];
    request = {k, true, 0, capacity_of(m_ratio, n)};
    own.fits[s].reset();
    if (moments.nonzeros <= k) {
      request.exact = false;  // all above zero: the nonzeros
    } else if (static_cast<double>(n) >= std::max(1024.0, 2 / m_ratio) && std::isfinite(moments.sum_abs)) {
      own.fits[s].emplace(k, moments.nonzeros, moments.sum_abs, n, own.history[s].stages, m_delta1);
    }
  }

  /// Later stages of all segments together, then their thresholds into the requests.
  void search(const Exec& exec, const Source& source, SidcoState& own) const {
    for (bool again = true; again;) {
      again = false;
      for (std::size_t s = 0; s < own.fits.size(); ++s) {
        const bool open = own.fits[s] && !own.fits[s]->done();
        own.thresholds[s] = open ? own.fits[s]->threshold() : -1.0f;
        again = again || open;
      }
      if (!again) break;
      const auto& tails = own.tails.run(exec, own.tiles, source.accumulated(), own.thresholds);
      for (std::size_t s = 0; s < own.fits.size(); ++s)
        if (own.thresholds[s] >= 0) own.fits[s]->advance(tails[s]);
    }
    for (std::size_t s = 0; s < own.fits.size(); ++s) {
      if (!own.fits[s]) continue;
      own.requests[s].exact = false;
      own.requests[s].threshold = kernels::magnitude(own.fits[s]->threshold());
    }
  }

  double m_ratio, m_delta1, m_tolerance;
  int m_interval;
  bool m_adaptive;
  int m_stages;
  int m_most_stages;  ///< ceil(log2(1 / ratio)): every stage halves the survivors at least
};

Entry sidco() {
  Info info;
  info.name = "sidco";
  info.summary = "top-k by a threshold fitted to the distribution of the gradient";
  info.paper = "Abdelmoniem, Elzanaty, Alouini & Canini, MLSys 2021";
  info.family = Info::Family::sparsifier;
  info.property = Info::Property::contraction;
  info.rounds = {MessageKind::bytes};
  info.reducers = {"allgather"};
  info.feedback = "residual";
  info.parameters = {
      Parameter::real("ratio", "0.01", 0, 1, "target density: kept / n of each segment", true),
      Parameter::choice("sid", "exponential", {"exponential"}, "distribution that is fitted"),
      Parameter::choice("stages", "adaptive", {"adaptive", "1", "2", "3", "4", "5", "6", "7", "8"},
                        "stages of the fit; adaptive: follows the kept density"),
      Parameter::real("delta1", "0.25", 0, 0.9, "share of the nonzeros that the first of several stages keeps", true),
      Parameter::integer("interval", "5", 1, 1000000, "calls between two looks at the number of stages"),
      Parameter::real("tolerance", "0.2", 0, 1, "deviation of the mean of kept / k from 1 that changes the stages"),
  };
  info.bytes_formula = "8 kept, kept <= 2 k, k = sum over segments of max(1, floor(ratio n))";
  info.passes = 4;
  return make_entry<Sidco>(info);
}

}  // namespace gradcomp::compressors
