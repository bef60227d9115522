#include "gradcomp/compressors/gradient_dropping.hpp"

#include "gradcomp/compressors/detail/sparse/sampled.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::compressors {
namespace {

void choose_sampled(const Exec& exec, const SampledState& state, bool paper, bool host_looks) {
  const Searched all = state.searched();
  const auto sampled = state.sampler.searches();
  kernels::for_few(
      "gradcomp::compressors::choose_sampled", exec, state.segments(), host_looks, KOKKOS_LAMBDA(const index_t s) {
        if (sampled(s).rank == 0) return;
        kernels::Selection& selection = all.selections[s];
        choose_above(selection, sampled(s).high);
        if (!paper) selection.min_entries = (selection.k + 1) / 2;
      });
}

}  // namespace

class GradientDropping final : public Sparsifier {
 public:
  GradientDropping(Info info, const ParameterValues& options)
      : Sparsifier(std::move(info), options),
        m_sample(this->options().integer("sample")),
        m_paper(this->options().text("variant") == "paper") {}

 private:
  index_t max_entries(double density, const Segment& segment) const override {
    return max_sent(density, segment.count, m_paper);
  }

  std::unique_ptr<SparseState> make_state(const Layout& layout) const override {
    std::vector<index_t> capacity;
    for (const auto& segment : layout.segments) capacity.push_back(std::min(m_sample, segment.count));
    return std::make_unique<SampledState>(layout, density().ratio(), max_kept(layout), coding(), capacity);
  }

  void search(const Exec& exec, const Source& source, SparseState& state, const Context& context) const override {
    auto& own = static_cast<SampledState&>(state);
    for (std::size_t s = 0; s < own.samples.size(); ++s) {
      own.samples[s] = {};
      if (own.wanted(s).small != 0) continue;
      const auto& segment = own.layout.segments[s];
      const SamplePlan plan = dropping_sample(segment.count, own.density, m_sample, !m_paper);
      const index_t starts = segment.count - (plan.count - 1) * plan.stride;
      const index_t start =
          m_paper ? 0 : kernels::random_start(starts, context.seed, segment.id, context.step, context.rank);
      own.sample(s, plan, start);
    }
    own.sampler.run(exec, source.accumulated(), own.samples, own.open.data(), context.host_looks);
    choose_sampled(exec, own, m_paper, context.host_looks);
  }

  index_t m_sample;
  bool m_paper;
};

Entry gradient_dropping() {
  Info info = sparsifier_info(
      "gradient_dropping", "entries above a threshold taken from a sample", "Aji & Heafield, EMNLP 2017",
      {
          ratio_parameter(),
          Parameter::integer("sample", "100000", 1, 1e9, "largest number of elements in the sample of a segment"),
          variant_parameter("random start and odd stride of the sample, k / 2 to 2 k entries"),
      });
  info.bytes_formula = "8 kept, kept <= 2 k (variant=paper: no bound), k = sum over segments of max(1, floor(ratio n))";
  return make_entry<GradientDropping>(info);
}

}  // namespace gradcomp::compressors
