#include "gradcomp/compressors/dgc.hpp"

#include <algorithm>
#include <cmath>

#include "gradcomp/compressors/detail/count_search.hpp"
#include "gradcomp/compressors/detail/sampled.hpp"

namespace gradcomp::compressors {
namespace {

constexpr double upper_bound = 1.3, lower_bound = 0.8;
constexpr float repair_factor = 0.8f;
constexpr int most_repairs = 10;

index_t most_candidates(index_t k) { return static_cast<index_t>(upper_bound * static_cast<double>(k)); }
index_t least_candidates(index_t k) { return static_cast<index_t>(std::ceil(lower_bound * static_cast<double>(k))); }

/// The repairs of one segment: T, .8 T, .64 T, ... until enough lies at or above it.
struct Ladder {
  float threshold = 0;
  index_t least = 0;  ///< candidates that are enough
  int repairs = 0;
  bool settled = true;

  bool done() const { return settled; }
  bool enough(index_t count) const { return count >= least; }

  /// The bound that entries >= t are above.
  static std::int32_t below(float t) { return std::max(kernels::magnitude(t) - 1, 0); }
  std::int32_t bound() const { return below(threshold); }

  kernels::Probes probes() const {
    kernels::Probes probes = kernels::no_probes;
    float t = threshold;
    for (int p = 0; p < kernels::most_probes && repairs + p <= most_repairs && !settled; ++p, t *= repair_factor)
      probes[static_cast<std::size_t>(p)] = below(t);
    return probes;
  }

  void advance(const kernels::Counts& counts) {
    for (const index_t count : counts) {
      if (settled) return;
      settled = count >= least || repairs == most_repairs;
      if (settled) return;
      threshold *= repair_factor;
      ++repairs;
    }
  }
};

struct DgcState final : SampledState {
  DgcState(const Layout& bucket, double usual, index_t most, const coders::SparseCoding& coding,
           const std::vector<index_t>& capacity)
      : SampledState(bucket, usual, most, coding, capacity),
        above(tiles),
        ladders(layout.segments.size()),
        probes(layout.segments.size()) {}

  index_t scratch_bytes() const override { return SampledState::scratch_bytes() + above.bytes(); }

  kernels::CountAbove above;
  std::vector<Ladder> ladders;
  std::vector<kernels::Probes> probes;
};

}  // namespace

class Dgc final : public Sparsifier {
 public:
  Dgc(Info info, const Options& options)
      : Sparsifier(std::move(info), options),
        m_sample(this->options().real("sample")),
        m_paper(this->options().text("variant") == "paper") {}

 private:
  index_t target(double density, index_t n) const override {
    return std::min(n, static_cast<index_t>(std::ceil(density * static_cast<double>(n))));
  }
  index_t most_entries(index_t n) const override {
    const index_t k = target(density().most(), n);
    return m_paper ? k : std::min(n, most_candidates(k));
  }

  /// 2: of the authors' code. 20: a deviation of 1 / sqrt(20) in what lies above the threshold.
  SamplePlan plan(index_t n, double density) const {
    return dgc_sample(n, density, m_sample, m_paper ? 2 : 20, !m_paper);
  }

  std::unique_ptr<SparseState> make_state(const Layout& layout) const override {
    std::vector<index_t> capacity;  // warm-up is denser and needs no more samples
    for (const auto& segment : layout.segments) capacity.push_back(plan(segment.count, density().ratio()).count);
    return std::make_unique<DgcState>(layout, upper_bound * density().ratio(), most_kept(layout), coding(), capacity);
  }

  void search(const Exec& exec, const Source& source, SparseState& state, const Context& context) const override {
    auto& own = static_cast<DgcState&>(state);
    for (std::size_t s = 0; s < own.samples.size(); ++s) {
      own.samples[s] = {};
      if (own.open[s] == 0) continue;
      const auto& segment = own.layout.segments[s];
      const SamplePlan chosen = plan(segment.count, own.density);
      own.sample(s, chosen, kernels::random_start(chosen.stride, context.seed, segment.id, context.step, context.rank));
    }
    const auto& sampled = own.sampler.run(exec, source.accumulated(), own.samples);
    for (std::size_t s = 0; s < own.ladders.size(); ++s)
      own.ladders[s] = {Kokkos::bit_cast<float>(std::max(sampled[s], 0)), least_candidates(own.target[s]), 0,
                        sampled[s] <= 0};
    search_thresholds(exec, own.above, own.tiles, source.accumulated(), own.selector.shortlist(own.tiles, own.first),
                      own.ladders, own.probes);
    for (std::size_t s = 0; s < own.requests.size(); ++s) {
      if (sampled[s] <= 0) continue;  // T = 0: all are candidates, hence the exact k largest
      kernels::Request& request = own.requests[s];
      choose_above(request, own.ladders[s].bound());
      request.capacity = most_candidates(own.target[s]);
      request.least = m_paper ? 0 : least_candidates(own.target[s]);
      request.cut = m_paper ? own.target[s] : 0;
    }
  }

  double m_sample;
  bool m_paper;
};

Entry dgc() {
  Info info = sparsifier_info("dgc", "top-k by a sampled threshold, with momentum correction and masking",
                              "Lin, Han, Mao, Wang & Dally, Deep gradient compression, ICLR 2018",
                              {
                                  ratio_parameter("0.001"),
                                  Parameter::real("sample", "0.01", 0, 1, "share of a segment that is sampled", true),
                                  variant_parameter("all of up to 1.3 k entries, at least 20 / ratio samples"),
                              });
  info.feedback = "momentum_correction";
  info.bytes_formula = "8 kept, kept <= 1.3 k, k = sum over segments of ceil(ratio n)";
  info.passes = 5;
  return make_entry<Dgc>(info);
}

}  // namespace gradcomp::compressors
