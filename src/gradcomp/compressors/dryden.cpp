// dryden: sends the largest positive and the largest negative entries of each segment, each class as its mean (Dryden,
// Moon, Jacobs & Van Essen, Communication quantization for data-parallel training of deep neural networks, MLHPC 2016).
//
// Of m+ positive entries, the k+ = max(1, floor(ratio m+)) largest are kept, and likewise of m- negative entries; an
// empty class keeps none. Receivers decode every kept entry as the mean of the kept entries of its class, and the
// memory keeps a - decoded, at kept entries too. So sum(r) = sum(a) - sum(decoded), and r sums to zero over the kept
// entries of each class. Means are formed in double.
//
// variant=fixed keeps exactly k+ and k- entries; ties go to the lowest index. variant=paper does what GRACE does: a
// sample of 1 % of the class, drawn with replacement, gives a threshold. Up to 20 times, the threshold is multiplied by
// 1.25 if more than 1.25 ceil(ratio m) entries lie above it, or by 0.9 if fewer than 0.8 ceil(ratio m) do. If then no
// entry lies above it, it is multiplied by 0.8 once. A class with fewer than 100 / ratio members has only one sampled
// value for its threshold, and its count may be anything up to m. If a class is empty, GRACE divides by 0 and sends
// NaN; both variants send count 0.
//
// Payload: for each segment f32 mean of the positive entries, f32 mean of the negative entries, u32 number of positive
// entries; then the u32 indices of all positive entries of the bucket in ascending order, then those of all negative
// entries: 12 segments + 4 kept bytes.
//
// Passes: 2 reads and 3 writes to form a and its two classes, 2 reads for their statistics, 2 to choose (variant=paper:
// 2 more for each repair). Work space: 8 n bytes for the classes.
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "gradcomp/compressors/detail/sparse/sampled_classes.hpp"
#include "gradcomp/compressors/detail/sparse/sign_classes.hpp"
#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"
#include "gradcomp/core/copies.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
namespace {

/// Throws Error unless the places in both classes of the whole bucket fit in 32 bits.
const Layout& twice_indexable(const Layout& layout) {
  constexpr index_t max_elements = 0x7fffffff;
  require(layout.count() <= max_elements, "a bucket of {} elements; dryden takes at most {}", layout.count(),
          max_elements);
  return layout;
}

struct DrydenState final : State {
  DrydenState(const Layout& bucket, double usual, double densest, bool sampled, index_t max_entries, index_t capacity)
      : State(twice_indexable(bucket)),
        classes(class_layout(layout)),
        tiles(layout),
        class_tiles(classes),
        first(class_tiles, kernels::Statistics::largest),
        selector(class_tiles, usual / 2),
        means(static_cast<index_t>(classes.segments.size())),
        selections(classes.segments.size()),
        host_starts(classes.segments.size() + 1),
        host_table(3 * layout.segments.size()),
        magnitudes("gradcomp::compressors::dryden::magnitudes", static_cast<std::size_t>(classes.count())),
        values("gradcomp::compressors::dryden::values", static_cast<std::size_t>(max_entries)),
        payload("gradcomp::compressors::dryden::payload", static_cast<std::size_t>(capacity)),
        starts("gradcomp::compressors::dryden::starts", host_starts.size()) {
    if (sampled) sample.emplace(layout, densest);
    std::vector<index_t> host;
    for (const auto& segment : layout.segments) host.push_back(segment.offset + segment.count);
    ends = upload("gradcomp::compressors::dryden::ends", host);
    kept.assign(layout.segments.size(), 0);
    // the first step replaces these targets
    for (const auto& segment : layout.segments) target.push_back(target_kept(usual, segment.count));
  }

  index_t scratch_bytes() const override {
    return tiles.bytes() + class_tiles.bytes() + first.bytes() + selector.bytes() + means.bytes() +
           (sample ? sample->bytes() : 0) +
           static_cast<index_t>(4 * (magnitudes.size() + values.size()) + payload.size() +
                                8 * (starts.size() + ends.size()));
  }

  ClassSegments segments() const {
    return {ends.data(), starts.data(), static_cast<index_t>(layout.segments.size()), layout.count()};
  }
  index_t members(std::size_t c) const { return first.moments()[c].nonzeros; }

  /// The magnitudes of both classes as a source of their own, which remembers nothing.
  Source class_source() const {
    Source source;
    source.count = classes.count();
    source.gradient = magnitudes.data();
    return source;
  }

  Layout classes;
  kernels::Tiles tiles, class_tiles;
  kernels::FirstPass first;
  kernels::Selector selector;
  ClassMeans means;
  std::optional<SampledClasses> sample;
  std::vector<kernels::Selection> selections;  ///< [classes] of this step
  std::vector<index_t> host_starts;            ///< [classes + 1] entries before each class
  std::vector<std::uint32_t> host_table;
  Vector<float> magnitudes;  ///< [2 n]
  Vector<float> values;      ///< of kept entries
  Vector<std::byte> payload;
  Vector<index_t> starts, ends;
};

template <class Word, class Byte>
ClassSections<Word> sections_of(Byte* payload, std::size_t segments) {
  auto* const table = reinterpret_cast<Word*>(payload + payload_header_bytes);
  return {table, table + 3 * segments};
}

bool is_size(float mean) { return mean >= 0 && std::isfinite(mean); }

}  // namespace

class Dryden final : public Compressor {
 public:
  Dryden(Info info, const ParameterValues& options)
      : Compressor(std::move(info), options), m_density(options), m_paper(options.text("variant") == "paper") {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<DrydenState>(layout, m_density.ratio(), m_density.max_density(), m_paper,
                                         max_entries(layout), payload_capacity(layout));
  }
  index_t payload_capacity(const Layout& layout) const override {
    return payload_header_bytes + payload_bytes(layout, max_entries(layout));
  }
  index_t payload_bytes(const Layout& layout, index_t kept) const override {
    return 12 * static_cast<index_t>(layout.segments.size()) + 4 * kept;
  }

  Message produce(const Exec& exec, int, const Step& step, State& state) const override {
    auto& own = state.as<DrydenState>();
    const Source& source = step.source;
    split_signs(exec, own.tiles, source, own.magnitudes);
    own.first.run(exec, own.class_tiles, own.class_source());
    if (own.first.non_finite() > 0) return send_flag(exec, own, header(source.count, 0), own.payload);
    choose(exec, own, step.context);
    count(own);
    const index_t kept = own.host_starts.back(), positives = own.host_starts[own.layout.segments.size()];
    const auto sections = sections_of<std::uint32_t>(own.payload.data(), own.layout.segments.size());
    own.selector.emit(exec, own.class_tiles, own.class_source(), sections.indices, own.values.data());
    Kokkos::deep_copy(exec, own.starts, HostSpan<index_t>(own.host_starts.data(), own.host_starts.size()));
    own.means.run(exec, own.starts, own.values);
    encode_classes(exec, own.segments(), source, own.means.means(), positives, kept, sections);
    Message message;
    message.kind = MessageKind::bytes;
    message.payload = own.payload;
    message.size = payload_header_bytes + payload_bytes(own.layout, kept);
    write_header(exec, header(source.count, kept), message.payload);
    return message;
  }

  void decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const override {
    auto& own = state.as<DrydenState>();
    const Span<const std::byte>& payload = received.bytes;
    const PayloadHeader head = read_header(exec, payload, header(own.layout.count(), 0));
    if (head.diverged()) return take_flag(exec, received, info().name, out);
    require(head.kept <= static_cast<std::uint64_t>(max_entries(own.layout)),
            "payload: {} entries; at most {} are possible", head.kept, max_entries(own.layout));
    const auto kept = static_cast<index_t>(head.kept);
    const index_t bytes = payload_header_bytes + payload_bytes(own.layout, kept);
    require(static_cast<index_t>(payload.size()) == bytes, "payload: {} bytes; {} are expected for {} entries",
            payload.size(), bytes, kept);
    require(reinterpret_cast<std::uintptr_t>(payload.data()) % alignof(float) == 0,
            "payload: its address is not a multiple of {}", alignof(float));
    const auto sections = sections_of<const std::uint32_t>(payload.data(), own.layout.segments.size());
    const index_t positives = read_table(exec, own, sections, kept);
    const index_t bad = count_bad_classes(exec, own.segments(), positives, kept, sections);
    require(bad == 0, "payload: {} of {} indices are out of range, out of order or in another segment", bad, kept);
    decode_classes(exec, own.segments(), positives, kept, sections, received.weight, out);
  }

 private:
  /// Largest number of entries of a message. Each class of a segment has at least one.
  index_t max_entries(const Layout& layout) const {
    index_t sum = 0;
    for (const auto& segment : layout.segments) {
      const index_t n = segment.count;
      sum += m_paper ? n : std::min(n, target_kept(m_density.max_density(), n) + 1);
    }
    return sum;
  }

  void choose(const Exec& exec, DrydenState& own, const Context& context) const {
    const double density = m_density.at(context.step);
    for (std::size_t c = 0; c < own.selections.size(); ++c) {
      const index_t k = target_kept(density, own.members(c));
      own.selections[c] = {k, true, 0, k};
    }
    for (std::size_t s = 0; s < own.target.size(); ++s)
      own.target[s] = own.selections[s].k + own.selections[own.target.size() + s].k;
    if (m_paper) return choose_sampled(exec, own, context, density);
    own.selector.choose(exec, own.class_tiles, own.class_source(), own.first, own.selections);
  }

  /// Selects by the authors' thresholds and repairs.
  static void choose_sampled(const Exec& exec, DrydenState& own, const Context& context, double density) {
    constexpr int repairs = 20;
    auto thresholds = own.sample->thresholds(exec, own.magnitudes, own.first.moments(), density, context);
    for (int round = 0; round <= repairs + 1; ++round) {
      for (std::size_t c = 0; c < own.selections.size(); ++c) {
        const index_t members = own.members(c);
        own.selections[c] = {members, false, kernels::magnitude(thresholds[c]), members};
      }
      own.selector.choose(exec, own.class_tiles, own.class_source(), own.first, own.selections);
      bool again = false;
      for (std::size_t c = 0; c < own.selections.size(); ++c) {
        const auto kept = static_cast<double>(own.selector.chosen()[c].kept);
        const double wanted = std::ceil(density * static_cast<double>(own.members(c)));
        const bool last = round >= repairs;
        float factor = 1;
        if (!last && kept > 1.25 * wanted) factor = 1.25f;
        if (!last && kept < 0.8 * wanted) factor = 0.9f;
        if (round == repairs && kept < 1 && wanted > 0) factor = 0.8f;
        thresholds[c] *= factor;
        again = again || factor != 1;
      }
      if (!again) break;
    }
  }

  /// Notes how many entries the selector chose.
  static void count(DrydenState& own) {
    const auto& chosen = own.selector.chosen();
    for (std::size_t c = 0; c < chosen.size(); ++c) own.host_starts[c + 1] = own.host_starts[c] + chosen[c].kept;
    const std::size_t segments = own.kept.size();
    for (std::size_t s = 0; s < segments; ++s) own.kept[s] = chosen[s].kept + chosen[segments + s].kept;
  }

  /// Checks the table and uploads what the kernels need of it; returns the number of positive entries.
  static index_t read_table(const Exec& exec, DrydenState& own, const ClassSections<const std::uint32_t>& sections,
                            index_t kept) {
    auto& table = own.host_table;
    read_back(exec, Span<const std::uint32_t>(sections.table, table.size()), table.data(),
              "gradcomp::compressors::dryden::decode_add");
    const std::size_t segments = own.layout.segments.size();
    for (std::size_t s = 0; s < segments; ++s) {
      const auto positive = Kokkos::bit_cast<float>(table[3 * s]), negative = Kokkos::bit_cast<float>(table[3 * s + 1]);
      require(is_size(positive) && is_size(-negative),
              "payload: means {} and {} of segment {} are not finite or have a wrong sign", positive, negative, s);
      own.host_starts[s + 1] = own.host_starts[s] + table[3 * s + 2];
    }
    const index_t positives = own.host_starts[segments];
    require(positives <= kept, "payload: {} positive entries, but only {} entries in all", positives, kept);
    Kokkos::deep_copy(exec, own.starts, HostSpan<index_t>(own.host_starts.data(), own.host_starts.size()));
    return positives;
  }

  Density m_density;
  bool m_paper;
};

Entry dryden() {
  Info info =
      sparsifier_info("dryden", "the largest positive and the largest negative entries; each class is sent as its mean",
                      "Dryden, Moon, Jacobs & Van Essen, MLHPC 2016", {});
  info.parameters = {ratio_parameter(), variant_parameter("exact share of each sign; ties go to the lowest index")};
  for (auto& parameter : warmup_parameters()) info.parameters.push_back(std::move(parameter));
  info.sends_values = false;
  info.sparse = false;  // means of a class cannot be merged entry by entry
  info.bytes_formula = "12 segments + 4 kept";
  info.compress = {5, 2, 1};
  return make_entry<Dryden>(info);
}

}  // namespace gradcomp::compressors
