#include "gradcomp/compressors/composition/hybrid.hpp"

#include <fmt/ranges.h>

#include <utility>

#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::compressors {
namespace {

using kernels::Lanes;
using kernels::Warp;
using kernels::warp_lanes;

constexpr index_t chunk = 4096;
constexpr index_t chunk_count(index_t entries) { return (entries + chunk - 1) / chunk; }

/// Whether the payload of the method ends in `kept` floats and its messages list the entries.
bool is_sparsifier(const Compressor& method) { return dynamic_cast<const Sparsifier*>(&method) != nullptr; }
bool is_coder(const Compressor& method) {
  const Info& info = method.info();
  return info.can_resize && info.fixed_bytes && method.rounds() == 1 && info.rounds[0] == MessageKind::bytes;
}

/// Names of all methods that serve with their default options.
std::string names_of(bool (*serves)(const Compressor&)) {
  std::vector<std::string> names;
  for (const Entry& entry : all_entries()) {
    if (serves(*entry.make(ParameterValues(entry.info.name, entry.info.parameters, {}))))
      names.push_back(entry.info.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Info hybrid_info(const Compressor& sparsifier, const Compressor& coder) {
  Info info = sparsifier.info();
  require(is_sparsifier(sparsifier), "{} offers no list of chosen entries to a value coder; allowed before one: {}",
          info.name, hybrid_sparsifier_names());
  const std::string& values = sparsifier.options().text("values");
  require(values == "f32", "{}: values={} before a value coder; allowed: values=f32", info.name, values);
  require(is_coder(coder), "{} cannot code the values of another method; allowed: {}", coder.info().name,
          value_coder_names());
  info.name += "+" + coder.info().name;
  info.summary += "; their values: " + coder.info().summary;
  info.paper += "; " + coder.info().paper;
  info.sends_values = false;
  info.scale_free = info.scale_free && coder.info().scale_free;
  info.reducer = "allgather";
  info.sparse = false;  // only the coder knows the values
  info.bytes_formula = "indices + 4 + (" + coder.info().bytes_formula + ") of one tensor with n = k";
  return info;
}

/// The values of `max_entries` entries as one tensor, which uses the random numbers of the bucket's first segment.
Layout flat_values(const Layout& bucket, index_t max_entries) {
  Layout values = Layout::flat(max_entries, "values");
  values.segments[0].id = bucket.segments.empty() ? 0 : bucket.segments[0].id;
  return values;
}

/// scale[0] = <v, q> / <q, q>, limited to [0, 1]; 1 if q = 0. Sums are formed in a fixed order.
void fit_scale(const Exec& exec, const float* v, const float* q, index_t count, const Vector<double>& partial,
               float* scale) {
  const index_t chunks = chunk_count(count);
  kernels::for_warps(
      "gradcomp::compressors::hybrid_products", exec, chunks, KOKKOS_LAMBDA(const Warp& warp, index_t c) {
        const index_t begin = c * chunk, end = begin + chunk < count ? begin + chunk : count;
        Lanes<double> both, square;
        warp.each([&](int l) {
          both[l] = square[l] = 0;
          for (index_t j = begin + l; j < end; j += warp_lanes) {
            both[l] += static_cast<double>(v[j]) * static_cast<double>(q[j]);
            square[l] += static_cast<double>(q[j]) * static_cast<double>(q[j]);
          }
        });
        const double products = warp.sum(both), squares = warp.sum(square);
        warp.once([&] {
          partial(2 * c) = products;
          partial(2 * c + 1) = squares;
        });
      });
  kernels::for_warps(
      "gradcomp::compressors::hybrid_scale", exec, 1, KOKKOS_LAMBDA(const Warp& warp, index_t) {
        Lanes<double> both, square;
        warp.each([&](int l) {
          both[l] = square[l] = 0;
          for (index_t c = l; c < chunks; c += warp_lanes) {
            both[l] += partial(2 * c);
            square[l] += partial(2 * c + 1);
          }
        });
        const double products = warp.sum(both), squares = warp.sum(square);
        const double best = squares > 0 ? products / squares : 1.0;
        warp.once([&] { scale[0] = static_cast<float>(best < 0 ? 0.0 : best > 1 ? 1.0 : best); });
      });
}

/// Returns v - c q of every sent entry to the memory.
void return_rest(const Exec& exec, const Source& source, const SparseView& entries, const float* q,
                 const float* scale) {
  Kokkos::parallel_for(
      "gradcomp::compressors::hybrid_rest", IndexRange(exec, 0, entries.kept),
      KOKKOS_LAMBDA(const index_t j) { source.returned(entries.indices[j], entries.values[j] - scale[0] * q[j]); });
}

void multiply(const Exec& exec, const float* q, float scale, index_t count, float* values) {
  Kokkos::parallel_for(
      "gradcomp::compressors::hybrid_values", IndexRange(exec, 0, count),
      KOKKOS_LAMBDA(const index_t j) { values[j] = scale * q[j]; });
}

/// q = what the coder's payload decodes to.
void decode_values(const Exec& exec, const Compressor& coder, const Received& received, HybridState& state,
                   index_t kept) {
  const auto q = subspan(Span<float>(state.decoded), 0, kept);
  Kokkos::deep_copy(exec, q, 0.0f);
  coder.decode_add(exec, received, *state.coder, q);
}

}  // namespace

HybridState::HybridState(const Layout& bucket, std::unique_ptr<State> sparse_state, std::unique_ptr<State> coder_state,
                         index_t max_entries, index_t sparse_bytes, index_t coder_bytes)
    : State(bucket),
      sparse(std::move(sparse_state)),
      coder(std::move(coder_state)),
      decoded("gradcomp::compressors::hybrid::decoded", static_cast<std::size_t>(max_entries)),
      partial("gradcomp::compressors::hybrid::partial", static_cast<std::size_t>(2 * chunk_count(max_entries))),
      payload("gradcomp::compressors::hybrid::payload",
              static_cast<std::size_t>(sparse_bytes - 4 * max_entries + 4 + coder_bytes - payload_header_bytes)),
      sparse_plain("gradcomp::compressors::hybrid::sparse_plain", static_cast<std::size_t>(sparse_bytes)),
      coder_plain("gradcomp::compressors::hybrid::coder_plain", static_cast<std::size_t>(coder_bytes)) {
  kept = sparse->kept;
  target = sparse->target;
}

index_t HybridState::scratch_bytes() const {
  return sparse->scratch_bytes() + coder->scratch_bytes() +
         static_cast<index_t>(4 * decoded.size() + 8 * partial.size() + payload.size() + sparse_plain.size() +
                              coder_plain.size());
}

Hybrid::Hybrid(std::shared_ptr<const Compressor> sparsifier, std::shared_ptr<const Compressor> coder)
    : Compressor(hybrid_info(*sparsifier, *coder),
                 composed_options(composed_text(*sparsifier) + "+" + composed_text(*coder))),
      m_sparsifier(std::move(sparsifier)),
      m_coder(std::move(coder)) {}

std::unique_ptr<State> Hybrid::prepare(const Layout& layout) const {
  const index_t max_entries = m_sparsifier->max_kept(layout);
  const Layout values = flat_values(layout, max_entries);
  return std::make_unique<HybridState>(layout, m_sparsifier->prepare(layout), m_coder->prepare(values), max_entries,
                                       m_sparsifier->payload_capacity(layout), m_coder->payload_capacity(values));
}

index_t Hybrid::payload_capacity(const Layout& layout) const {
  const index_t max_entries = m_sparsifier->max_kept(layout);
  return m_sparsifier->payload_capacity(layout) - 4 * max_entries + 4 +
         m_coder->payload_capacity(flat_values(layout, max_entries)) - payload_header_bytes;
}

index_t Hybrid::payload_bytes(const Layout& layout, index_t kept) const {
  return m_sparsifier->payload_bytes(layout, kept) - 4 * kept + 4 +
         m_coder->payload_bytes(flat_values(layout, kept), kept);
}

Message Hybrid::produce(const Exec& exec, int, const Step& step, State& state) const {
  auto& own = state.as<HybridState>();
  const Message chosen = m_sparsifier->produce(exec, 0, step, *own.sparse);
  own.kept = own.sparse->kept;
  own.target = own.sparse->target;
  const PayloadHeader sparse = read_header(exec, payload_of(chosen));
  const auto kept = static_cast<index_t>(sparse.kept);
  PayloadHeader head = header(step.source.count, kept);
  head.flags = sparse.flags;
  Message message;
  message.kind = MessageKind::bytes;
  message.payload = own.payload;
  message.size = payload_header_bytes;
  if (!head.diverged()) {
    m_coder->resize(exec, *own.coder, kept);
    Step values;
    values.source.count = kept;
    values.source.gradient = chosen.sparse.values;
    values.context = step.context;
    const auto payload = payload_of(m_coder->produce(exec, 0, values, *own.coder));
    const auto coded = sections_of(payload);
    const index_t indices = chosen.size - payload_header_bytes - 4 * kept;
    std::byte* const sections = own.payload.data() + payload_header_bytes;
    auto* const scale = reinterpret_cast<float*>(sections + indices);
    copy_bytes(exec, chosen.payload.data() + payload_header_bytes, indices, sections);
    copy_bytes(exec, coded.data(), static_cast<index_t>(coded.size()), sections + indices + 4);
    message.size += indices + 4 + static_cast<index_t>(coded.size());
    if (step.source.has_memory()) {
      decode_values(exec, *m_coder, {payload, step.context}, own, kept);
      fit_scale(exec, values.source.gradient, own.decoded.data(), kept, own.partial, scale);
      return_rest(exec, step.source, chosen.sparse, own.decoded.data(), scale);
    } else {
      Kokkos::deep_copy(exec, Span<float>(scale, 1), 1.0f);
    }
  }
  write_header(exec, head, message.payload);
  return message;
}

void Hybrid::decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const {
  auto& own = state.as<HybridState>();
  const Span<const std::byte>& payload = received.bytes;
  const std::string& name = info().name;
  const PayloadHeader head = read_header(exec, payload, header(own.layout.count(), 0), PayloadHeader::any_flags);
  if (head.flags == PayloadHeader::flag_diverged) return take_flag(exec, received, name, out);
  require(head.kept <= static_cast<std::uint64_t>(own.max_entries()), "{}: payload of {} entries, expected at most {}",
          name, head.kept, own.max_entries());
  const auto kept = static_cast<index_t>(head.kept);
  m_coder->resize(exec, *own.coder, kept);
  const index_t coded = m_coder->payload_bytes(own.coder->layout, kept);
  const index_t indices = static_cast<index_t>(payload.size()) - payload_header_bytes - 4 - coded;
  require(indices >= 0 && indices % 4 == 0 &&
              payload_header_bytes + indices + 4 * kept <= static_cast<index_t>(own.sparse_plain.size()),
          "{}: payload of {} bytes does not fit {} entries", name, payload.size(), kept);
  require(reinterpret_cast<std::uintptr_t>(payload.data()) % 4 == 0, "{}: payload is not aligned to 4 bytes", name);
  const std::byte* const sections = payload.data() + payload_header_bytes;
  float scale = 0;
  read_back(exec, Span<const float>(reinterpret_cast<const float*>(sections + indices), 1), &scale,
            "gradcomp::compressors::hybrid::decode_add");
  require(scale >= 0 && scale <= 1, "{}: payload with a scale of {}, outside [0, 1]", name, scale);
  copy_bytes(exec, sections, indices, own.sparse_plain.data() + payload_header_bytes);
  copy_bytes(exec, sections + indices + 4, coded, own.coder_plain.data() + payload_header_bytes);
  write_header(exec, m_coder->header(kept, kept), own.coder_plain);
  Received part = received;
  part.weight = 1;
  part.bytes = subspan(Span<const std::byte>(own.coder_plain), 0, payload_header_bytes + coded);
  decode_values(exec, *m_coder, part, own, kept);
  multiply(exec, own.decoded.data(), scale, kept,
           reinterpret_cast<float*>(own.sparse_plain.data() + payload_header_bytes + indices));
  PayloadHeader sparse = m_sparsifier->header(own.layout.count(), kept);
  sparse.flags = head.flags;
  write_header(exec, sparse, own.sparse_plain);
  part.weight = received.weight;
  part.bytes = subspan(Span<const std::byte>(own.sparse_plain), 0, payload_header_bytes + indices + 4 * kept);
  m_sparsifier->decode_add(exec, part, *own.sparse, out);
}

std::string value_coder_names() { return names_of(is_coder); }
std::string hybrid_sparsifier_names() { return names_of(is_sparsifier); }

std::unique_ptr<Compressor> make_hybrid(std::shared_ptr<const Compressor> sparsifier,
                                        std::shared_ptr<const Compressor> coder) {
  return std::make_unique<Hybrid>(std::move(sparsifier), std::move(coder));
}

}  // namespace gradcomp::compressors
