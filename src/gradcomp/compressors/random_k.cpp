// random_k: sends k random entries of each segment (Stich, Cordonnier & Jaggi, NeurIPS 2018).
//
// The choice follows from (seed, segment, step) and is the same on all ranks. So no index travels, and an allreduce
// adds the values. seed=private draws from (seed, segment, step, rank). Receivers repeat the sender's draw, so still no
// index travels; but the ranks choose different entries, and the payloads are gathered. Every element is chosen with
// probability exactly k / n, without replacement (kernels/random/random_subset.hpp).
//
// scale=none with the residual is the default. Without feedback use scale=unbiased: values are multiplied by n / k, so
// that E C(a) = a and E ||C(a) - a||^2 = (n/k - 1) ||a||^2. Scaling together with a memory diverges and is refused. A
// value that leaves the range of a float by it flags the step.
//
// Message: k f32 (4 k bytes); seed=private: u32 rank, k f32. Passes: 2 reads and 1 write with the residual, k gathers.
#include <utility>

#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/lanes/check_finite.hpp"
#include "gradcomp/kernels/lanes/mark_sum.hpp"
#include "gradcomp/kernels/lanes/note.hpp"
#include "gradcomp/kernels/random/random_subset.hpp"
#include "gradcomp/kernels/select/accumulate.hpp"

namespace gradcomp::compressors {
namespace {

/// The segments of the message: k elements for each segment of the bucket, with the same ids.
Layout entries_of(const Layout& layout, double ratio) {
  Layout entries;
  for (const auto& segment : layout.segments) {
    entries.add(segment.name, {target_kept(ratio, segment.count)});
    entries.segments.back().id = segment.id;
  }
  return entries;
}

/// Bytes before the values: a header and the u32 rank. With seed=shared only the values travel.
constexpr index_t before_values = payload_header_bytes + 4;

/// Work space of one bucket: 8 k bytes of values besides the tables. Nothing persists: the choice follows from the
/// step.
struct RandomKState final : State {
  RandomKState(const Layout& bucket, double ratio)
      : State(indexable(bucket)),
        message_layout(entries_of(layout, ratio)),
        tiles(layout),
        entries(message_layout),
        payload("gradcomp::compressors::random_k::payload",
                static_cast<std::size_t>(before_values + 4 * message_layout.count())),
        sent(reinterpret_cast<float*>(payload.data() + before_values),
             static_cast<std::size_t>(message_layout.count())),
        sum("gradcomp::compressors::random_k::sum", static_cast<std::size_t>(message_layout.count())),
        bad("gradcomp::compressors::random_k::bad", 1),
        subsets("gradcomp::compressors::random_k::subsets", layout.segments.size()),
        weights("gradcomp::compressors::random_k::weights", layout.segments.size()),
        host_subsets(layout.segments.size()),
        host_weights(layout.segments.size()) {
    kept = message_layout.counts();
    target = kept;
  }

  index_t scratch_bytes() const override {
    return tiles.bytes() + entries.bytes() + 8 * message_layout.count() +
           static_cast<index_t>(subsets.size() * (sizeof(kernels::Subset) + sizeof(float)));
  }

  /// Draws the entries of the step `of`, for `rank` or for every_rank.
  void draw(const Exec& exec, const Context& of, std::uint32_t rank) {
    for (std::size_t s = 0; s < host_subsets.size(); ++s) {
      const auto& there = message_layout.segments[s];
      host_subsets[s] = kernels::draw_subset(layout.segments[s], there.count, there.offset, of.seed, of.step, rank);
    }
    Kokkos::deep_copy(exec, subsets, HostSpan<kernels::Subset>(host_subsets.data(), host_subsets.size()));
  }

  /// Sets the weight of every segment to `weight`, times n / k if `unbiased`.
  void weigh(const Exec& exec, float weight, bool unbiased) {
    for (std::size_t s = 0; s < host_weights.size(); ++s) {
      const auto& subset = host_subsets[s];
      const double scale =
          subset.count == 0 ? 0.0 : static_cast<double>(subset.elements) / static_cast<double>(subset.count);
      host_weights[s] = unbiased ? static_cast<float>(weight * scale) : weight;
    }
    Kokkos::deep_copy(exec, weights, HostSpan<float>(host_weights.data(), host_weights.size()));
  }

  /// Where a pass notes a gradient that is not finite.
  Mark mark() const { return {bad.data()}; }

  Layout message_layout;  ///< k elements for each segment of the bucket
  kernels::Tiles tiles, entries;
  Vector<std::byte> payload;
  Span<float> sent;  ///< in the payload
  Vector<float> sum;
  Vector<std::uint32_t> bad;  ///< [1] of mark()
  Vector<kernels::Subset> subsets;
  Vector<float> weights;
  std::vector<kernels::Subset> host_subsets;
  std::vector<float> host_weights;
};

/// Notes values that are not finite when receivers multiply them by n / k.
void mark_overflows(const Exec& exec, RandomKState& own) {
  constexpr float more = 1 + 0x1p-20f;  // a little more than n / k, since means of such values are rounded
  const auto tile = own.entries.tile;
  const auto subsets = own.subsets;
  const auto sent = own.sent;
  const Mark mark = own.mark();
  kernels::for_warps(
      "gradcomp::compressors::random_k_overflows", exec, own.entries.count(),
      KOKKOS_LAMBDA(const kernels::Warp& warp, index_t t) {
        const kernels::Tile here = tile(t);
        const kernels::Subset& subset = subsets(here.segment);
        const auto weight =
            static_cast<float>(more * (static_cast<double>(subset.elements) / static_cast<double>(subset.count)));
        kernels::Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        kernels::each_element(warp, here.count, [&](int l, index_t e) {
          bad[l] += Source::is_finite(weight * sent[here.first + e]) ? 0 : 1;
        });
        kernels::note_bad(warp, bad, mark);
      });
}

}  // namespace

/// With seed=private the ranks choose different entries, so their values cannot be summed: the message is bytes.
Info with_seed(Info info, const ParameterValues& options) {
  if (options.text("seed") == "private") {
    info.rounds = {MessageKind::bytes};
    info.reducer = "allgather";
    info.host_sizes = true;  // a payload names its rank, whose entries receivers draw
  }
  return info;
}

class RandomK final : public Compressor {
 public:
  RandomK(Info info, ParameterValues options)
      : Compressor(with_seed(std::move(info), options), options),
        m_ratio(options.real("ratio")),
        m_unbiased(options.text("scale") == "unbiased"),
        m_private(options.text("seed") == "private") {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<RandomKState>(layout, m_ratio);
  }
  index_t payload_bytes(const Layout& layout, index_t) const override {
    return 4 * target_kept(m_ratio, layout) + (m_private ? 4 : 0);
  }

  Message produce(const Exec& exec, int, const Step& step, State& state) const override {
    auto& own = state.as<RandomKState>();
    require(!(m_unbiased && step.source.has_memory()),
            "random_k: scale=unbiased with a feedback diverges; allowed: scale=none or feedback=none");
    own.kept = own.target;
    const auto rank = static_cast<std::uint32_t>(step.context.rank);
    own.draw(exec, step.context, m_private ? rank : every_rank);
    take(exec, step.source, own);
    if (m_unbiased) mark_overflows(exec, own);
    if (m_private) return send_bytes(exec, own, rank);
    kernels::mark_sum(exec, own.mark(), Kokkos::Experimental::quiet_NaN_v<float>, own.sent);
    Message message;
    message.count = own.message_layout.count();
    message.data = own.sent.data();
    message.result = own.sum.data();
    return message;
  }

  void finish(const Exec& exec, const Step& step, State& state) const override {
    auto& own = state.as<RandomKState>();
    kernels::check_sum(exec, own.sum, Mark(), step.faults);
    own.weigh(exec, 1.0f / static_cast<float>(step.context.ranks), m_unbiased);
    kernels::spread_subsets(exec, own.tiles, own.subsets, own.weights, own.sum, step.mean);
  }

  void decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const override {
    auto& own = state.as<RandomKState>();
    const Span<const std::byte>& payload = received.bytes;
    const index_t k = own.message_layout.count(), bytes = payload_capacity(own.layout);
    const PayloadHeader head = read_header(exec, payload, header(own.layout.count(), k));
    if (head.diverged()) return take_flag(exec, received, info().name, out);
    require(head.kept == static_cast<std::uint64_t>(k) && static_cast<index_t>(payload.size()) == bytes,
            "random_k: payload of {} entries and {} bytes, expected {} and {}", head.kept, payload.size(), k, bytes);
    std::uint32_t rank = 0;
    read_back(exec, subspan(payload, payload_header_bytes, 4), reinterpret_cast<std::byte*>(&rank),
              "gradcomp::compressors::random_k::decode_add");
    const Span<const float> values(reinterpret_cast<const float*>(payload.data() + before_values),
                                   static_cast<std::size_t>(k));
    kernels::check_values(exec, values, received.faults);
    own.draw(exec, received.sender, rank);
    own.weigh(exec, received.weight, m_unbiased);
    kernels::scatter_subsets(exec, own.entries, own.subsets, own.weights, values, out);
  }

 private:
  /// First touch of the source; takes the values of the entries.
  static void take(const Exec& exec, const Source& source, RandomKState& own) {
    if (source.kind == Source::Kind::none || source.kind == Source::Kind::residual) {
      kernels::touch_subsets(exec, own.tiles, own.subsets, source, own.sent, own.mark());
    } else {
      kernels::accumulate(exec, own.tiles, source, own.mark());
      kernels::gather_subsets(exec, own.entries, own.subsets, source, own.sent);
    }
  }

  Message send_bytes(const Exec& exec, RandomKState& own, std::uint32_t rank) const {
    std::uint32_t bad = 0;
    read_back(exec, Span<const std::uint32_t>(own.bad), &bad, "gradcomp::compressors::random_k::produce");
    if (bad != 0) return send_flag(exec, own, header(own.layout.count(), 0), own.payload);
    Message message;
    message.kind = MessageKind::bytes;
    message.payload = own.payload;
    message.size = static_cast<index_t>(own.payload.size());
    write_header(exec, header(own.layout.count(), own.message_layout.count()), message.payload);
    Kokkos::deep_copy(
        exec, Span<std::uint32_t>(reinterpret_cast<std::uint32_t*>(own.payload.data() + payload_header_bytes), 1),
        rank);
    return message;
  }

  double m_ratio;
  bool m_unbiased, m_private;
};

Entry random_k() {
  Info info;
  info.name = "random_k";
  info.summary = "k random entries; only values are sent, because indices follow from the seed";
  info.paper = "Stich, Cordonnier & Jaggi, Sparsified SGD with memory, NeurIPS 2018";
  info.family = Info::Family::sparsifier;
  info.property = Info::Property::contraction;
  info.rounds = {MessageKind::summable};
  info.reducer = "allreduce";
  info.feedback = "residual";
  info.parameters = {
      ratio_parameter(),
      Parameter::choice("seed", "shared", {"shared", "private"},
                        "shared: all ranks send the same entries, which are summed; private: each rank draws its own, "
                        "which are gathered"),
      Parameter::choice("scale", "none", {"none", "unbiased"},
                        "unbiased: values are multiplied by n/k; only for feedback=none (with a residual it diverges)"),
  };
  info.feedbacks = {"none", "residual", "momentum_correction", "ef21"};
  info.bytes_formula = "4 k (seed=private: 4 k + 4), k = sum over segments of max(1, floor(ratio n))";
  info.compress = {1, 0, 1};
  return make_entry<RandomK>(info);
}

}  // namespace gradcomp::compressors
