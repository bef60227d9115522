#include "gradcomp/compressors/detail/sparsifier.hpp"

#include <algorithm>
#include <utility>

namespace gradcomp::compressors {

SparseState::SparseState(const Layout& bucket, double usual, index_t most, bool logs)
    : State(indexable(bucket)),
      tiles(layout),
      first(tiles, logs),
      selector(tiles, usual),
      requests(layout.segments.size()),
      open(layout.segments.size()),
      payload("gradcomp::compressors::payload",
              static_cast<std::size_t>(payload_header_bytes + coders::sparse_bytes(most))) {
  kept.assign(layout.segments.size(), 0);
  target.assign(layout.segments.size(), 0);
}

index_t SparseState::scratch_bytes() const {
  return tiles.bytes() + first.bytes() + selector.bytes() + static_cast<index_t>(payload.size());
}

Sparsifier::Sparsifier(Info info, Options options)
    : Compressor(std::move(info), std::move(options)), m_density(this->options()) {}

std::unique_ptr<SparseState> Sparsifier::make_state(const Layout& layout) const {
  return std::make_unique<SparseState>(layout, m_density.ratio(), most_kept(layout));
}

std::unique_ptr<State> Sparsifier::prepare(const Layout& layout) const { return make_state(layout); }

index_t Sparsifier::most_kept(const Layout& layout) const {
  index_t total = 0;
  for (const auto& segment : layout.segments) total += most_entries(segment.count);
  return total;
}

index_t Sparsifier::payload_capacity(const Layout& layout) const {
  return payload_header_bytes + coders::sparse_bytes(most_kept(layout));
}

index_t Sparsifier::payload_bytes(const Layout&, index_t kept) const { return coders::sparse_bytes(kept); }

/// Targets of this step, and the requests that need no search.
void Sparsifier::begin(SparseState& state, std::int64_t step) const {
  state.density = m_density.at(step);
  for (std::size_t s = 0; s < state.requests.size(); ++s) {
    const index_t n = state.layout.segments[s].count, k = target_kept(state.density, n);
    state.target[s] = k;
    state.requests[s] = {k, true, 0, most_entries(n)};
    const kernels::Moments& moments = state.first.moments()[s];
    if (moments.nonzeros <= k) state.requests[s].exact = false;  // all above zero: the nonzeros
    const bool small = static_cast<double>(n) < std::max(1024.0, 2 / state.density);
    state.open[s] = moments.nonzeros > k && !small && std::isfinite(moments.sum_abs);
  }
}

void Sparsifier::produce(const Exec& exec, int, const Source& source, State& state, const Context& context,
                         Message& message) const {
  auto& own = static_cast<SparseState&>(state);
  own.first.run(exec, own.tiles, source);
  PayloadHeader head = header(source.count, 0);
  if (own.first.non_finite() > 0) return send_flag(exec, own, head, own.payload, message);
  begin(own, context.step);
  search(exec, source, own, context);
  own.selector.choose(exec, own.tiles, source, own.first, own.requests);
  for (std::size_t s = 0; s < own.kept.size(); ++s) own.kept[s] = own.selector.chosen()[s].kept;
  const index_t kept = own.selector.kept();
  head.kept = static_cast<std::uint64_t>(kept);
  message.kind = MessageKind::bytes;
  message.payload = own.payload;
  message.size = payload_header_bytes + coders::sparse_bytes(kept);
  const auto sections = coders::sparse_sections<std::byte>(message.payload, kept);
  own.selector.emit(exec, own.tiles, source, sections.indices, sections.values);
  write_header(exec, head, message.payload);
  message.sparse = {sections.indices, sections.values, kept};
  record(own);
}

void Sparsifier::decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, State& state,
                            const Span<float>& out) const {
  coders::decode_sparse(exec, payload, header(state.layout.count(), 0), most_kept(state.layout), weight, out);
}

Parameter variant_parameter(const std::string& fixed) {
  return Parameter::choice("variant", "fixed", {"fixed", "paper"}, "paper: as the authors wrote it; fixed: " + fixed);
}

index_t most_sent(index_t k, index_t n, bool paper) { return paper ? n : std::min(n, 2 * k); }

void choose_above(kernels::Request& request, float threshold) {
  request.exact = false;
  request.threshold = kernels::magnitude(threshold);
}

Info sparsifier_info(const std::string& name, const std::string& summary, const std::string& paper,
                     std::vector<Parameter> own) {
  Info info;
  info.name = name;
  info.summary = summary;
  info.paper = paper;
  info.family = Info::Family::sparsifier;
  info.property = Info::Property::contraction;
  info.rounds = {MessageKind::bytes};
  info.reducers = {"allgather"};
  info.feedback = "residual";
  info.feedbacks = {"none", "residual", "momentum_correction", "ef21"};
  info.parameters = std::move(own);
  for (auto& parameter : warmup_parameters()) {
    const bool declared = std::any_of(info.parameters.begin(), info.parameters.end(),
                                      [&](const Parameter& p) { return p.name == parameter.name; });
    if (!declared) info.parameters.push_back(std::move(parameter));
  }
  info.bytes_formula = "8 kept";
  info.passes = 4;
  return info;
}

void send_flag(const Exec& exec, State& state, PayloadHeader header, const Span<std::byte>& payload, Message& message) {
  std::fill(state.kept.begin(), state.kept.end(), 0);
  header.kept = 0;
  header.flags |= PayloadHeader::flag_skip;
  message.kind = MessageKind::bytes;
  message.payload = payload;
  message.size = payload_header_bytes;
  message.sparse = {};
  write_header(exec, header, message.payload);
}

}  // namespace gradcomp::compressors
