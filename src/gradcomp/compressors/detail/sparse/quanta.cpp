#include "gradcomp/compressors/detail/sparse/quanta.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"
#include "gradcomp/core/copies.hpp"
#include "gradcomp/core/read_back.hpp"

namespace gradcomp::compressors {
namespace {

constexpr std::uint32_t max_quanta = 65535;

/// Bytes of the counts of `kept` entries.
constexpr index_t count_bytes(index_t kept) { return padded_bytes(2 * kept); }

/// The words of a payload behind its values of tau.
template <class Byte>
auto words_of(Byte* payload, index_t taus) {
  using Word = std::conditional_t<std::is_const_v<Byte>, const std::uint32_t, std::uint32_t>;
  return reinterpret_cast<Word*>(payload + payload_header_bytes + 4 * taus);
}

template <class Byte>
auto counts_of(Byte* payload, index_t taus, index_t kept) {
  using Count = std::conditional_t<std::is_const_v<Byte>, const std::uint16_t, std::uint16_t>;
  return reinterpret_cast<Count*>(payload + payload_header_bytes + 4 * taus + 4 * kept);
}

/// Throws Error unless the bucket's indices fit in 31 bits, which leaves one bit for the sign.
const Layout& with_room_for_a_sign(const Layout& layout) {
  constexpr index_t max_elements = 0x7fffffff;
  require(layout.count() <= max_elements, "a bucket of {} elements; methods with threshold quanta take at most {}",
          layout.count(), max_elements);
  return layout;
}

/// Segment of element i: the first whose end lies behind it.
KOKKOS_INLINE_FUNCTION index_t segment_of(const index_t* ends, index_t segments, index_t i) {
  index_t low = 0, high = segments - 1;
  while (low < high) {
    const index_t middle = (low + high) / 2;
    if (ends[middle] > i) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Turns the indices in `words` into words, counts quanta if `counts` is given, and reports what was sent.
void encode(const Exec& exec, const QuantaState& state, const Source& source, index_t kept, std::uint32_t* words,
            std::uint16_t* counts) {
  const auto values = state.values;
  const auto taus = state.device_thresholds;
  const auto ends = state.device_ends;
  const auto segments = static_cast<index_t>(ends.size());
  Kokkos::parallel_for(
      "gradcomp::compressors::quanta_encode", IndexRange(exec, 0, kept), KOKKOS_LAMBDA(index_t j) {
        const std::uint32_t i = words[j];
        const float a = values(j), tau = taus(segment_of(ends.data(), segments, i));
        std::uint32_t quanta = 1;
        if (counts != nullptr) {
          const float many = Kokkos::abs(a) / tau;  // > 1, or infinite
          quanta = many < static_cast<float>(max_quanta) ? static_cast<std::uint32_t>(many) : max_quanta;
          quanta = quanta < 1 ? 1 : quanta;
          counts[j] = static_cast<std::uint16_t>(quanta);
        }
        const float size = static_cast<float>(quanta) * tau;
        words[j] = i << 1 | (a < 0 ? 1u : 0u);
        source.sent(i, a, a < 0 ? -size : size);
      });
  if (counts != nullptr && kept % 2 != 0) {
    Kokkos::deep_copy(exec, Span<std::uint16_t>(counts + kept, 1), std::uint16_t{0});
  }
}

/// Number of entries that decode_add() must refuse. Waits for exec.
index_t count_bad(const Exec& exec, const QuantaState& state, const std::uint32_t* words, const std::uint16_t* counts,
                  index_t kept, index_t elements) {
  const auto taus = state.device_thresholds;
  const auto ends = state.device_ends;
  const auto segments = static_cast<index_t>(ends.size());
  index_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::compressors::quanta_check", IndexRange(exec, 0, kept),
      KOKKOS_LAMBDA(index_t j, index_t & sum) {
        const index_t i = words[j] >> 1;
        bool good = i < elements && (j == 0 || (words[j - 1] >> 1) < (words[j] >> 1));
        if (good) {
          const float quanta = counts == nullptr ? 1.0f : static_cast<float>(counts[j]);
          const float size = quanta * taus(segment_of(ends.data(), segments, i));
          good = quanta > 0 && size > 0 && Source::is_finite(size);
        }
        sum += good ? 0 : 1;
      },
      bad);
  wait(exec, "gradcomp::compressors::quanta_check");
  return bad;
}

}  // namespace

QuantaState::QuantaState(const Layout& bucket, index_t taus, bool counts)
    : State(with_room_for_a_sign(bucket)),
      tiles(layout),
      first(tiles, kernels::Statistics::magnitudes),
      selector(tiles, 0.02),
      selections(layout.segments.size()),
      thresholds(layout.segments.size()),
      sent_taus(static_cast<std::size_t>(taus)),
      device_thresholds("gradcomp::compressors::quanta_thresholds", layout.segments.size()),
      values("gradcomp::compressors::quanta_values", static_cast<std::size_t>(layout.count())),
      payload("gradcomp::compressors::quanta_payload",
              static_cast<std::size_t>(payload_header_bytes + 4 * taus + 4 * layout.count() +
                                       (counts ? count_bytes(layout.count()) : 0))) {
  for (const auto& segment : layout.segments) ends.push_back(segment.offset + segment.count);
  device_ends = upload("gradcomp::compressors::quanta_ends", ends);
  kept.assign(layout.segments.size(), 0);
  target.assign(layout.segments.size(), 0);  // a threshold has no target
}

index_t QuantaState::scratch_bytes() const {
  return tiles.bytes() + first.bytes() + selector.bytes() + static_cast<index_t>(payload.size()) +
         static_cast<index_t>(values.size() * 4 + device_ends.size() * 8 + device_thresholds.size() * 4);
}

QuantaMethod::QuantaMethod(Info info, ParameterValues options, bool per_segment)
    : Compressor(std::move(info), std::move(options)),
      m_per_segment(per_segment),
      m_counts(this->options().text("quanta") == "multi") {}

index_t QuantaMethod::taus(const Layout& layout) const {
  return m_per_segment ? static_cast<index_t>(layout.segments.size()) : 1;
}

std::unique_ptr<QuantaState> QuantaMethod::make_state(const Layout& layout) const {
  return std::make_unique<QuantaState>(layout, taus(layout), m_counts);
}

std::unique_ptr<State> QuantaMethod::prepare(const Layout& layout) const { return make_state(layout); }

index_t QuantaMethod::payload_bytes(const Layout& layout, index_t kept) const {
  return 4 * taus(layout) + 4 * kept + (m_counts ? count_bytes(kept) : 0);
}

index_t QuantaMethod::payload_capacity(const Layout& layout) const {
  return payload_header_bytes + payload_bytes(layout, layout.count());
}

Message QuantaMethod::produce(const Exec& exec, int, const Step& step, State& state) const {
  auto& own = state.as<QuantaState>();
  const Source& source = step.source;
  own.first.run(exec, own.tiles, source);
  PayloadHeader head = header(source.count, 0);
  if (own.first.non_finite() > 0) return send_flag(exec, own, head, own.payload);
  choose_thresholds(own);
  for (std::size_t s = 0; s < own.selections.size(); ++s) {
    const index_t n = own.layout.segments[s].count;
    own.selections[s] = {n, false, kernels::magnitude(own.thresholds[s]), n};
  }
  own.selector.choose(exec, own.tiles, source, own.first, own.selections);
  for (std::size_t s = 0; s < own.kept.size(); ++s) own.kept[s] = own.selector.chosen()[s].kept;
  const index_t kept = own.selector.kept(), many = taus(own.layout);
  head.kept = static_cast<std::uint64_t>(kept);
  Message message;
  message.kind = MessageKind::bytes;
  message.payload = own.payload;
  message.size = payload_header_bytes + payload_bytes(own.layout, kept);
  std::uint32_t* const words = words_of(own.payload.data(), many);
  own.selector.emit(exec, own.tiles, Source{}, words, own.values.data());  // without memory, so nothing is left there
  Kokkos::deep_copy(exec, own.device_thresholds, HostSpan<float>(own.thresholds.data(), own.thresholds.size()));
  encode(exec, own, source, kept, words, m_counts ? counts_of(own.payload.data(), many, kept) : nullptr);
  std::copy_n(own.thresholds.begin(), std::min(own.thresholds.size(), own.sent_taus.size()), own.sent_taus.begin());
  Kokkos::deep_copy(
      exec, Span<float>(reinterpret_cast<float*>(own.payload.data() + payload_header_bytes), own.sent_taus.size()),
      HostSpan<float>(own.sent_taus.data(), own.sent_taus.size()));
  write_header(exec, head, message.payload);
  record(own);
  return message;
}

void QuantaMethod::decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const {
  auto& own = state.as<QuantaState>();
  const Span<const std::byte>& payload = received.bytes;
  const float weight = received.weight;
  const PayloadHeader head = read_header(exec, payload, header(own.layout.count(), 0));
  if (head.diverged()) return take_flag(exec, received, info().name, out);
  require(head.kept <= static_cast<std::uint64_t>(own.layout.count()), "payload: {} entries; at most {} are possible",
          head.kept, own.layout.count());
  const auto kept = static_cast<index_t>(head.kept);
  const index_t expected = payload_header_bytes + payload_bytes(own.layout, kept);
  require(static_cast<index_t>(payload.size()) == expected, "payload: {} bytes; {} are expected for {} entries",
          payload.size(), expected, kept);
  require(reinterpret_cast<std::uintptr_t>(payload.data()) % alignof(float) == 0,
          "payload: its address is not a multiple of {}", alignof(float));
  const index_t many = taus(own.layout);
  const Span<const float> sent(reinterpret_cast<const float*>(payload.data() + payload_header_bytes),
                               static_cast<std::size_t>(many));
  read_back(exec, sent, own.sent_taus.data(), "gradcomp::compressors::quanta_decode");
  if (m_per_segment) {
    Kokkos::deep_copy(exec, own.device_thresholds, sent);
  } else {
    Kokkos::deep_copy(exec, own.device_thresholds, own.sent_taus[0]);
  }
  const std::uint32_t* const words = words_of(payload.data(), many);
  const std::uint16_t* const counts = m_counts ? counts_of(payload.data(), many, kept) : nullptr;
  const index_t bad = count_bad(exec, own, words, counts, kept, own.layout.count());
  require(bad == 0, "payload: {} of {} entries have an index out of range or order, no quantum or no finite threshold",
          bad, kept);
  const auto sizes = own.device_thresholds;
  const auto ends = own.device_ends;
  const auto segments = static_cast<index_t>(ends.size());
  Kokkos::parallel_for(
      "gradcomp::compressors::quanta_decode", IndexRange(exec, 0, kept), KOKKOS_LAMBDA(index_t j) {
        const index_t i = words[j] >> 1;
        const float size =
            (counts == nullptr ? 1.0f : static_cast<float>(counts[j])) * sizes(segment_of(ends.data(), segments, i));
        out(i) += weight * ((words[j] & 1u) != 0 ? -size : size);
      });
}

Parameter quanta_parameter() {
  return Parameter::choice("quanta", "single", {"single", "multi"},
                           "quanta per entry and step; single: one; multi: floor(|a| / tau), which needs 2 more bytes");
}

Info quanta_info(const std::string& name, const std::string& summary, const std::string& paper,
                 std::vector<Parameter> own) {
  Info info = sparsifier_info(name, summary, paper, {});
  info.compress = {2, 0, 1};  // its selector uses nothing of the step before
  info.parameters = std::move(own);
  info.parameters.push_back(quanta_parameter());
  info.sends_values = false;
  info.sparse = false;
  return info;
}

}  // namespace gradcomp::compressors
