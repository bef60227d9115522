// dgc: Deep Gradient Compression (Lin, Han, Mao, Wang & Dally, ICLR 2018, section 3), with all its parts: momentum
// correction, momentum factor masking, local clipping, warm-up, and a sampled threshold with hierarchical selection.
//
// Each step, with feedback=momentum_correction (the default): g is clipped to the norm feedback.clip / sqrt(ranks),
// then u = m u + g and v = v + u (feedback.nesterov=on: u = m (u + g), v = v + u + g). Entries of v are sent, and there
// u = v = 0 (feedback.masking). warmup=quarters is the paper's schedule, warmup=geometric that of the authors'
// repository.
//
// As in the authors' repository, every tensor has its own threshold (granularity=tensor), and tensors of one dimension
// (biases, batch norm; few elements) are not compressed. All their elements are sent as ordinary entries, and u stays,
// so that they train with plain momentum. vectors=compressed treats these tensors as all others. granularity=bucket
// sees the bucket as one vector with one threshold, of which ratio n entries are sent.
//
// Selection of k = ceil(ratio n) entries: of m sampled |v|, which are every stride-th element from a random start on, T
// is the ceil(m ratio)-th largest (detail/sparse/sampled.hpp). Entries >= T are candidates. While there are fewer than
// .8 k, T becomes .8 T, at most ten times. If there are more than 1.3 k, the exact k largest of them are chosen.
//
// variant=paper follows the authors' repository. The sample has max(sample n, 2 / ratio) elements, so the rank of T in
// it is at least 2. The number of candidates has a relative deviation of 1 / sqrt(rank), up to 100 %. If there are k to
// 1.3 k candidates, the first k in index order are sent, which favours the front of a segment.
//
// variant=fixed (default) takes at least 20 / ratio samples (deviation 22 %) and sends all of up to 1.3 k candidates.
// If fewer than .8 k are left after all repairs, the exact k largest entries are sent.
//
// Guards: if there are at most k nonzeros, they are sent as they are. Segments with fewer than max(1024, 2 / ratio)
// elements, and segments with T = 0, send exactly k.
//
// One or two reads count the entries above all eleven thresholds of the repairs (kernels/select/count_above.hpp).
//
// Payload: that of top_k (the repository's has 64-bit indices). Passes: 3 reads and 2 writes with momentum correction,
// and the sample; as in top_k, 1 read to choose. If the last threshold does not help, 1 read to count.
#include <algorithm>
#include <cmath>

#include "gradcomp/compressors/detail/sparse/dgc_ladder.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

class Dgc final : public Sparsifier {
 public:
  Dgc(Info info, const ParameterValues& options)
      : Sparsifier(std::move(info), options),
        m_sample(this->options().real("sample")),
        m_paper(this->options().text("variant") == "paper"),
        m_vectors_whole(this->options().text("vectors") == "whole") {}

  Message produce(const Exec& exec, int round, const Step& step, State& state) const override {
    const Message message = Sparsifier::produce(exec, round, step, state);
    const auto& own = state.as<DgcState>();
    if (own.keeps_momentum) restore_momentum(exec, step.source, own);
    return message;
  }

 private:
  bool is_whole(const Segment& segment) const {
    return m_vectors_whole && segment.is_tensor && segment.shape.size() <= 1;
  }
  index_t target(double density, const Segment& segment) const override {
    if (is_whole(segment)) return segment.count;
    return std::min(segment.count, static_cast<index_t>(std::ceil(density * static_cast<double>(segment.count))));
  }
  index_t max_entries(double density, const Segment& segment) const override {
    const index_t k = target(density, segment);
    return m_paper ? k : std::min(segment.count, max_candidates(k));
  }

  /// Smallest rank of the threshold in the sample: 2 as in the authors' code; 20 for a deviation of 1 / sqrt(20) in the
  /// number of entries above the threshold.
  SamplePlan plan(index_t n, double density) const {
    return dgc_sample(n, density, m_sample, m_paper ? 2 : 20, !m_paper);
  }

  std::unique_ptr<SparseState> make_state(const Layout& layout) const override {
    std::vector<index_t> capacity;  // a warm-up is denser and needs no more samples
    std::vector<std::uint32_t> whole;
    for (const auto& segment : layout.segments) {
      capacity.push_back(plan(segment.count, density().ratio()).count);
      if (!is_whole(segment)) continue;
      for (index_t i = 0; i < segment.count; ++i) whole.push_back(static_cast<std::uint32_t>(segment.offset + i));
    }
    return std::make_unique<DgcState>(layout, dgc_upper_bound * density().ratio(), max_kept(layout), coding(), capacity,
                                      whole);
  }

  void search(const Exec& exec, const Source& source, SparseState& state, const Context& context) const override {
    auto& own = static_cast<DgcState&>(state);
    own.keeps_momentum = source.masking && own.whole.size() > 0;
    if (own.keeps_momentum) keep_momentum(exec, source, own);
    for (std::size_t s = 0; s < own.samples.size(); ++s) {
      own.samples[s] = {};
      if (own.wanted(s).small != 0) continue;
      const auto& segment = own.layout.segments[s];
      const SamplePlan chosen = plan(segment.count, own.density);
      own.sample(s, chosen, kernels::random_start(chosen.stride, context.seed, segment.id, context.step, context.rank));
    }
    own.sampler.run(exec, source.accumulated(), own.samples, own.open.data(), context.host_looks);
    search_candidates(exec, source, own, m_paper, context.host_looks);
  }

  double m_sample;
  bool m_paper, m_vectors_whole;
};

Entry dgc() {
  Info info = sparsifier_info("dgc", "top-k by a sampled threshold, with momentum correction and masking",
                              "Lin, Han, Mao, Wang & Dally, Deep gradient compression, ICLR 2018",
                              {
                                  ratio_parameter("0.001"),
                                  Parameter::real("sample", "0.01", 0, 1, "share of a segment that is sampled", true),
                                  variant_parameter("sends up to 1.3 k entries, takes at least 20 / ratio samples"),
                                  Parameter::choice("vectors", "whole", {"whole", "compressed"},
                                                    "tensors with one dimension (biases, batch norm); whole: sent "
                                                    "whole with plain momentum, as the authors do"),
                              });
  info.feedback = "momentum_correction";
  info.granularity = "tensor";
  info.bytes_formula =
      "8 kept, kept <= 1.3 k, k = sum over tensors of ceil(ratio n) + elements of the vectors; vectors=compressed and "
      "granularity=bucket: no vectors";
  info.compress = {1, 0, 2};
  return make_entry<Dgc>(info);
}

}  // namespace gradcomp::compressors
