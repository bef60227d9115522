// sketch: SketchedSGD (Ivkin, Rothchild, Ullah, Braverman, Stoica, Arora, NeurIPS 2019). The ranks add count sketches,
// in which all of them find the same heavy hitters, and then add the exact values of these.
//
// Round 0: the sketch of a, f32 [rows][columns], summed. The whole bucket has one sketch
// (kernels/sketch/count_sketch.hpp). Every rank makes the same estimates of the sum of a (the median over rows). In
// every segment, the candidates * k elements with the largest estimates are the candidates; ties go to the lower index.
// Round 1: the rank's own values of the candidates, f32, summed; their indices need not travel. In every segment, the k
// largest of these sums are the estimate, out = sum / ranks. At their places every rank's own value has left its memory
// completely. So C(a) is a subset of the entries of a: it is a contraction and loses nothing, however bad the estimates
// are.
//
// feedback=momentum_correction, the default, is SketchedSGD's momentum: u = m u + g, v = v + u, and both become zero
// where entries are sent. An element is found if it stands out of the noise, ||sum of a|| / sqrt(columns). In gradients
// without heavy hitters the candidates are little better than random. columns=0 means 10 k columns, as in FetchSGD
// (Rothchild et al., ICML 2020), the authors' successor, which has 5 rows. This sends 54 k floats and pays only for
// small ratios.
//
// NaN and infinity: a rank whose gradient is not finite sends NaN. Every rank sees the same sums, and one that is not
// finite, by a flag or an overflow, ends the run.
//
// Passes with momentum (R: read, W: write): 3R + 2W to form a, `rows` reads to sketch, 1 write of the estimates and 2
// reads to choose. Work space: 4 n bytes of estimates, 0.5 rows n of hashes.
#include <algorithm>
#include <limits>
#include <utility>

#include "gradcomp/compressors/detail/sparse/density.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/select/scatter.hpp"
#include "gradcomp/kernels/select/top_k.hpp"
#include "gradcomp/kernels/sketch/count_sketch.hpp"

namespace gradcomp::compressors {
namespace {

struct Sizes {
  double ratio;
  int rows;
  index_t columns, factor;

  index_t candidates(index_t n) const { return std::min(n, factor * target_kept(ratio, n)); }
  index_t candidates(const Layout& layout) const {
    index_t total = 0;
    for (const auto& segment : layout.segments) total += candidates(segment.count);
    return total;
  }
  /// Columns in whole blocks: at least two blocks, but not more columns than elements (rounded up).
  index_t table_columns(const Layout& layout) const {
    const auto blocks = [](index_t n) { return (n + kernels::sketch_block - 1) / kernels::sketch_block; };
    const index_t wanted = std::max<index_t>(2, blocks(columns > 0 ? columns : 10 * target_kept(ratio, layout)));
    return kernels::sketch_block * std::min(wanted, blocks(layout.count()));
  }
  Layout entries(const Layout& layout) const {
    Layout list;
    for (const auto& segment : layout.segments) list.add(segment.name, {candidates(segment.count)});
    return list;
  }
};

/// Chooses the k largest of every segment of a vector that all ranks have.
struct Choice {
  Choice(const Layout& layout, double density)
      : tiles(layout),
        first(tiles, kernels::Statistics::largest),
        selector(tiles, density),
        selections(layout.segments.size()) {}

  /// Writes indices and values of the chosen entries. Returns false if an element is not finite. Waits for exec.
  bool run(const Exec& exec, const Vector<float>& values, const Vector<std::uint32_t>& indices,
           const Vector<float>& chosen) {
    Source plain;
    plain.count = static_cast<index_t>(values.size());
    plain.gradient = values.data();
    first.run(exec, tiles, plain);
    if (first.non_finite() > 0) return false;
    selector.choose(exec, tiles, plain, first, selections);
    selector.emit(exec, tiles, plain, indices.data(), chosen.data());
    return true;
  }
  index_t bytes() const { return tiles.bytes() + first.bytes() + selector.bytes(); }

  kernels::Tiles tiles;
  kernels::FirstPass first;
  kernels::Selector selector;
  std::vector<kernels::Selection> selections;
};

struct SketchState final : State {
  SketchState(const Layout& bucket, const Sizes& sizes)
      : State(indexable(bucket)),
        sketch(bucket.count(), sizes.rows, sizes.table_columns(bucket)),
        tiles(bucket),
        first(tiles, kernels::Statistics::largest),
        candidate_count(sizes.candidates(bucket)),
        heavy(bucket, static_cast<double>(candidate_count) / static_cast<double>(std::max<index_t>(1, bucket.count()))),
        largest(sizes.entries(bucket), 1.0 / static_cast<double>(sizes.factor)),
        table(kernels::zeroed<float>("gradcomp::compressors::sketch::table", sketch.table_size())),
        summed(kernels::zeroed<float>("gradcomp::compressors::sketch::summed", sketch.table_size())),
        estimates(kernels::zeroed<float>("gradcomp::compressors::sketch::estimates", bucket.count())),
        own(kernels::zeroed<float>("gradcomp::compressors::sketch::own", candidate_count)),
        sums(kernels::zeroed<float>("gradcomp::compressors::sketch::sums", candidate_count)),
        chosen(kernels::zeroed<float>("gradcomp::compressors::sketch::chosen", candidate_count)),
        candidates("gradcomp::compressors::sketch::candidates", own.size()),
        places("gradcomp::compressors::sketch::places", own.size()) {
    for (std::size_t s = 0; s < bucket.segments.size(); ++s) {
      const index_t n = bucket.segments[s].count;
      kept.push_back(target_kept(sizes.ratio, n));
      heavy.selections[s].k = sizes.candidates(n);
      largest.selections[s].k = kept.back();
    }
    target = kept;
  }
  index_t scratch_bytes() const override {
    return sketch.bytes() + tiles.bytes() + first.bytes() + heavy.bytes() + largest.bytes() + 8 * sketch.table_size() +
           static_cast<index_t>(4 * estimates.size() + 20 * own.size());
  }

  kernels::CountSketch sketch;
  kernels::Tiles tiles;
  kernels::FirstPass first;
  index_t candidate_count;
  Choice heavy;                     ///< candidates among the estimates
  Choice largest;                   ///< entries among the candidates
  Vector<float> table, summed;      ///< round 0
  Vector<float> estimates;          ///< [n] of the sum over ranks
  Vector<float> own, sums, chosen;  ///< [candidates] round 1: own values and their sums; then the chosen sums
  /// [candidates] indices in the bucket; indices of the chosen in `candidates`
  Vector<std::uint32_t> candidates, places;
  bool lost = false;  ///< some rank's gradient, or a sum, was not finite
};

/// own[j] = a of candidate j.
void gather(const Exec& exec, const Source& source, const Vector<std::uint32_t>& candidates, const Vector<float>& own) {
  Kokkos::parallel_for(
      "gradcomp::compressors::sketch_gather", IndexRange(exec, 0, static_cast<index_t>(own.size())),
      KOKKOS_LAMBDA(const index_t j) { own(j) = source.load(candidates(j)); });
}

/// out = share * sum at the chosen entries; reports the own values there as sent.
void send_chosen(const Exec& exec, const Source& source, const SketchState& state, float share,
                 const Span<float>& out) {
  const auto candidates = state.candidates, places = state.places;
  const auto own = state.own, chosen = state.chosen;
  Kokkos::parallel_for(
      "gradcomp::compressors::sketch_send", IndexRange(exec, 0, state.largest.selector.kept()),
      KOKKOS_LAMBDA(const index_t e) {
        const index_t i = candidates(places(e));
        const float value = own(places(e));
        out(i) = share * chosen(e);
        source.sent(i, value, value);
      });
}

class Sketch final : public Compressor {
 public:
  Sketch(Info info, ParameterValues options)
      : Compressor(std::move(info), std::move(options)),
        m_sizes{this->options().real("ratio"), static_cast<int>(this->options().integer("rows")),
                this->options().integer("columns"), this->options().integer("candidates")} {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<SketchState>(layout, m_sizes);
  }
  index_t payload_bytes(const Layout& layout, index_t) const override {
    return 4 * (m_sizes.rows * m_sizes.table_columns(layout) + m_sizes.candidates(layout));
  }

  Message produce(const Exec& exec, int round, const Step& step, State& state) const override {
    auto& own = state.as<SketchState>();
    const Source& source = step.source;
    Message message;
    if (round == 0) {
      own.first.run(exec, own.tiles, source);
      if (own.first.non_finite() > 0) {
        Kokkos::deep_copy(exec, own.table, std::numeric_limits<float>::quiet_NaN());
      } else {
        own.sketch.hash(exec, step.context.seed, own.layout.segments.empty() ? 0 : own.layout.segments.front().id);
        own.sketch.sketch(exec, source.accumulated(), Span<float>(own.table));
      }
      message.count = own.sketch.table_size();
      message.data = own.table.data();
      message.result = own.summed.data();
      return message;
    }
    if (!own.lost) gather(exec, source, own.candidates, own.own);
    message.count = own.candidate_count;
    message.data = own.own.data();
    message.result = own.sums.data();
    return message;
  }

  void consume(const Exec& exec, int round, const Message&, const Step&, State& state) const override {
    if (round != 0) return;
    auto& own = state.as<SketchState>();
    own.lost = kernels::count_non_finite(exec, Span<const float>(own.summed)) > 0;
    if (own.lost) return;
    own.sketch.estimate(exec, Span<const float>(own.summed), Span<float>(own.estimates));
    own.lost = !own.heavy.run(exec, own.estimates, own.candidates, own.chosen);
  }

  void finish(const Exec& exec, const Step& step, State& state) const override {
    auto& own = state.as<SketchState>();
    own.lost = own.lost || !own.largest.run(exec, own.sums, own.places, own.chosen);
    if (own.lost) return count_diverged(exec, step.faults);
    Kokkos::deep_copy(exec, step.mean, 0.0f);
    send_chosen(exec, step.source, own, 1.0f / static_cast<float>(step.context.ranks), step.mean);
  }

 private:
  Sizes m_sizes;
};

}  // namespace

Entry sketch() {
  Info info;
  info.name = "sketch";
  info.summary = "heavy hitters from summed count sketches, then sums of their exact values; no indices are sent";
  info.paper = "Ivkin et al., Communication-efficient distributed SGD with sketching, NeurIPS 2019";
  info.family = Info::Family::sparsifier;
  info.host_sizes = true;
  info.property = Info::Property::contraction;
  info.rounds = {MessageKind::summable, MessageKind::summable};
  info.reducer = "allreduce";
  info.feedback = "momentum_correction";
  info.feedbacks = {"none", "residual", "momentum_correction", "ef21"};
  info.parameters = {
      ratio_parameter("0.001"),
      Parameter::choice("rows", "5", {"1", "3", "5", "7", "9"},
                        "number of independent hashes; the estimate is their median"),
      Parameter::integer("columns", "0", 0, 1 << 28,
                         "sums per row, rounded up to a multiple of 32, at most n; 0: 10 k, at least 64"),
      Parameter::integer("candidates", "4", 1, 64, "number of entries whose exact values are summed, in units of k"),
  };
  info.bytes_formula =
      "4 rows columns + 4 sum over segments of min(n, candidates k), k = max(1, floor(ratio n)); columns=0: 10 k of "
      "the "
      "bucket";
  info.compress = {8, 1, 2};
  return make_entry<Sketch>(info);
}

}  // namespace gradcomp::compressors
