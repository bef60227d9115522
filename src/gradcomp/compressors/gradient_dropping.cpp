// gradient_dropping: sends what lies above a threshold that is taken from a sample (Aji & Heafield, Sparse
// communication for distributed gradient descent, EMNLP 2017).
//
// m = min(sample, n) magnitudes are sorted; T = sample[max(0, floor(m (1 - ratio)) - 1)]. All |a| > T are sent, and the
// rest stays. kept / k has a deviation of 1 / sqrt(m ratio).
//
// variant=paper samples every floor(n / m)-th element from the first on, as the authors do. Nothing bounds the number
// of sent entries.
//
// variant=fixed (default) has an odd stride that reaches the segment's end, and a random start in each step. Without
// them, data with the period of the stride would fool the sample in every step, and a stride of 1 would never see the
// end of a segment below 2 m. If fewer than k / 2 or more than 2 k entries lie above T, exactly the k largest are sent.
// Ties cause this: by the paper's rule, a constant gradient is never sent.
//
// Guards: if there are at most k nonzeros, they are sent as they are. Segments with fewer than max(1024, 2 / ratio)
// elements send exactly k.
//
// The authors' drop rate of .99 is ratio=0.01. Marian makes 100 dense steps at the start: warmup=dense. It is off by
// default, because all methods here start in the same way.
//
// Payload: that of top_k, 8 bytes per entry. Passes: 2 reads and 1 write with the residual, and the sample; as in
// top_k, a read to choose.
#include "gradcomp/compressors/detail/sparse/sampled.hpp"
#include "gradcomp/core/registry.hpp"
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
