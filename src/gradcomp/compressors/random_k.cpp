#include "gradcomp/compressors/random_k.hpp"

#include <cmath>
#include <limits>

#include "gradcomp/compressors/detail/sparse_state.hpp"
#include "gradcomp/kernels/random_subset.hpp"

namespace gradcomp::compressors {
namespace {

/// The segments of the message: k elements each, under the ids of the bucket's.
Layout entries_of(const Layout& layout, double ratio) {
  Layout entries;
  for (const auto& segment : layout.segments) {
    entries.add(segment.name, {target_kept(ratio, segment.count)});
    entries.segments.back().id = segment.id;
  }
  return entries;
}

/// Work space of one bucket: 8 k bytes of values beside the tables. Nothing persists: the choice follows from the step.
struct RandomKState final : State {
  RandomKState(const Layout& bucket, double ratio)
      : State(indexable(bucket)),
        message_layout(entries_of(layout, ratio)),
        tiles(layout),
        entries(message_layout),
        first(tiles),
        sent("gradcomp::compressors::random_k::sent", static_cast<std::size_t>(message_layout.count())),
        sum("gradcomp::compressors::random_k::sum", static_cast<std::size_t>(message_layout.count())),
        subsets("gradcomp::compressors::random_k::subsets", layout.segments.size()),
        weights("gradcomp::compressors::random_k::weights", layout.segments.size()),
        host_subsets(layout.segments.size()),
        host_weights(layout.segments.size()) {
    for (const auto& segment : message_layout.segments) kept.push_back(segment.count);
    target = kept;
  }

  index_t scratch_bytes() const override {
    return tiles.bytes() + entries.bytes() + first.bytes() + 8 * message_layout.count() +
           static_cast<index_t>(subsets.size() * (sizeof(kernels::Subset) + sizeof(float)));
  }

  /// Draws the entries of this step.
  void draw(const Exec& exec, const Context& context) {
    for (std::size_t s = 0; s < host_subsets.size(); ++s) {
      const auto& there = message_layout.segments[s];
      host_subsets[s] = kernels::draw_subset(layout.segments[s], there.count, there.offset, context.seed, context.step);
    }
    Kokkos::deep_copy(exec, subsets, HostSpan<kernels::Subset>(host_subsets.data(), host_subsets.size()));
  }

  /// out += weight (times n / k) * values at this step's entries.
  void scatter(const Exec& exec, const Vector<float>& values, float weight, bool unbiased, const Span<float>& out) {
    for (std::size_t s = 0; s < host_weights.size(); ++s) {
      const auto& subset = host_subsets[s];
      const double scale =
          subset.count == 0 ? 0.0 : static_cast<double>(subset.elements) / static_cast<double>(subset.count);
      host_weights[s] = unbiased ? static_cast<float>(weight * scale) : weight;
    }
    Kokkos::deep_copy(exec, weights, HostSpan<float>(host_weights.data(), host_weights.size()));
    kernels::scatter_subsets(exec, entries, subsets, weights, values, out);
  }

  Layout message_layout;  ///< k elements for each segment of the bucket
  kernels::Tiles tiles, entries;
  kernels::FirstPass first;
  Vector<float> sent, sum;
  Vector<kernels::Subset> subsets;
  Vector<float> weights;
  std::vector<kernels::Subset> host_subsets;
  std::vector<float> host_weights;
  bool flagged = false;  ///< this rank's last gradient was not finite: nothing left the memory
};

}  // namespace

class RandomK final : public Compressor {
 public:
  RandomK(Info info, Options options)
      : Compressor(std::move(info), std::move(options)),
        m_ratio(this->options().real("ratio")),
        m_unbiased(this->options().text("scale") == "unbiased") {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<RandomKState>(layout, m_ratio);
  }
  index_t payload_capacity(const Layout&) const override { return 0; }
  index_t payload_bytes(const Layout& layout, index_t) const override { return 4 * target_kept(m_ratio, layout); }

  void produce(const Exec& exec, int, const Source& source, State& state, const Context& context,
               Message& message) const override {
    require(!(m_unbiased && source.has_memory()),
            "random_k: scale=unbiased with feedback=residual diverges; allowed: scale=none or feedback=none");
    auto& own = static_cast<RandomKState&>(state);
    own.first.run(exec, own.tiles, source);
    own.flagged = own.first.non_finite() > 0;
    own.draw(exec, context);
    if (own.flagged) {
      Kokkos::deep_copy(exec, own.sent, std::numeric_limits<float>::quiet_NaN());
    } else {
      kernels::gather_subsets(exec, own.entries, own.subsets, source, own.sent);
    }
    message.kind = MessageKind::summable;
    message.dtype = DType::f32;
    message.op = ReduceOp::sum;
    message.count = own.message_layout.count();
    message.data = own.sent.data();
    message.result = own.sum.data();
  }

  bool finish(const Exec& exec, const Source&, State& state, const Context& context,
              const Span<float>& out) const override {
    auto& own = static_cast<RandomKState&>(state);
    float first = 0;
    if (own.sum.size() > 0) Kokkos::deep_copy(exec, HostSpan<float>(&first, 1), subspan<float>(own.sum, 0, 1));
    Kokkos::deep_copy(exec, out, 0.0f);
    exec.fence("gradcomp::compressors::random_k::finish");
    if (std::isnan(first)) return false;
    own.scatter(exec, own.sum, 1.0f / static_cast<float>(context.ranks), m_unbiased, out);
    return true;
  }

  void give_back(const Exec& exec, const Source& source, State& state, const Message&,
                 const Span<const float>&) const override {
    auto& own = static_cast<RandomKState&>(state);
    if (!source.has_memory() || own.flagged) return;
    own.scatter(exec, own.sent, 1.0f, false, Span<float>(source.memory, static_cast<std::size_t>(source.count)));
  }

 private:
  double m_ratio;
  bool m_unbiased;
};

Entry random_k() {
  Info info;
  info.name = "random_k";
  info.summary = "k random entries, the same on all ranks: values only, summed";
  info.paper = "Stich, Cordonnier & Jaggi, Sparsified SGD with memory, NeurIPS 2018";
  info.family = Info::Family::sparsifier;
  info.property = Info::Property::contraction;
  info.rounds = {MessageKind::summable};
  info.reducers = {"allreduce"};
  info.feedback = "residual";
  info.parameters = {
      Parameter::real("ratio", "0.01", 0, 1, "target density: kept / n of each segment", true),
      Parameter::choice("scale", "none", {"none", "unbiased"},
                        "unbiased: values times n/k, for feedback=none only (with a residual it diverges)"),
  };
  info.bytes_formula = "4 k, k = sum over segments of max(1, floor(ratio n))";
  info.passes = 3;
  return make_entry<RandomK>(info);
}

}  // namespace gradcomp::compressors
