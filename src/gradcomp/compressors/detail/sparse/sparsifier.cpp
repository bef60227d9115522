#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"

#include <algorithm>
#include <utility>

#include "gradcomp/core/copies.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::compressors {

namespace {

/// Adapts the method's promises to a coding that may change values.
Info with_coding(Info info, const ParameterValues& options) {
  const bool exact = coders::sparse_coding(options).values->exact;
  info.sends_values = info.sends_values && exact;
  info.scale_free = info.scale_free && exact;  // formats have a limited range, and scales underflow
  info.fixed_bytes = coders::sparse_coding(options).index.has_fixed_size();
  return info;
}

/// Reports the entries with the values that receivers decode.
void report_sent(const Exec& exec, const Source& source, const SparseView& entries) {
  Kokkos::parallel_for(
      "gradcomp::compressors::report_sent", IndexRange(exec, 0, entries.kept), KOKKOS_LAMBDA(const index_t j) {
        const index_t i = entries.indices[j];
        source.sent(i, source.load(i), entries.values[j]);
      });
}

void begin_search(const Exec& exec, const Searched& all, const Shared<Wanted>& wanted, const Vector<std::int32_t>& open,
                  bool zeros, bool host_looks) {
  kernels::for_few(
      "gradcomp::compressors::begin_search", exec, static_cast<index_t>(open.size()), host_looks,
      KOKKOS_LAMBDA(const index_t s) {
        const Wanted want = wanted(s);
        const kernels::Moments& moments = all.moments[s];
        kernels::Selection selection;
        selection.k = want.k;
        selection.exact = zeros || moments.nonzeros > want.k;  // otherwise all nonzero elements are selected
        selection.capacity = want.max_entries;
        all.selections[s] = selection;
        open(s) = is_open(want, moments) ? 1 : 0;
      });
}

}  // namespace

SparseState::SparseState(const Layout& bucket, double usual, index_t max_entries, const coders::SparseCoding& coding,
                         kernels::Statistics statistics, double spare)
    : State(indexable(bucket)),
      tiles(layout),
      first(tiles, statistics),
      selector(tiles, usual, spare),
      wanted("gradcomp::compressors::wanted", layout.segments.size()),
      elements(upload("gradcomp::compressors::elements", tiles.elements)),
      open("gradcomp::compressors::open", layout.segments.size()),
      coder(coding, layout.count(), max_entries),
      payload("gradcomp::compressors::payload", static_cast<std::size_t>(coder.payload_capacity())) {
  kept.assign(layout.segments.size(), 0);
  target.assign(layout.segments.size(), 0);
}

index_t SparseState::scratch_bytes() const {
  return tiles.bytes() + first.bytes() + selector.bytes() + coder.bytes() +
         static_cast<index_t>(payload.size() + elements.size() * (sizeof(index_t) + sizeof(std::int32_t)));
}

Sparsifier::Sparsifier(Info info, const ParameterValues& options)
    : Sparsifier(std::move(info), options, Density(options)) {}

Sparsifier::Sparsifier(Info info, const ParameterValues& options, Density density)
    : Compressor(with_coding(std::move(info), options), options),
      m_density(std::move(density)),
      m_coding(coders::sparse_coding(options)) {}

std::unique_ptr<SparseState> Sparsifier::make_state(const Layout& layout) const {
  return std::make_unique<SparseState>(layout, m_density.ratio(), max_kept(layout), m_coding);
}

std::unique_ptr<State> Sparsifier::prepare(const Layout& layout) const {
  auto state = make_state(layout);
  for (std::size_t s = 0; s < state->target.size() && m_density.has_target(); ++s)
    state->target[s] = target(m_density.ratio(), layout.segments[s]);  // formulas for a step's bytes use it
  return state;
}

index_t Sparsifier::max_kept(const Layout& layout) const {
  index_t total = 0;
  for (const auto& segment : layout.segments) total += max_entries(m_density.max_density(), segment);
  return total;
}

index_t Sparsifier::payload_capacity(const Layout& layout) const {
  return coders::SparseCoder::payload_capacity(m_coding, layout.count(), max_kept(layout));
}

index_t Sparsifier::payload_bytes(const Layout& layout, index_t kept) const {
  const index_t indices = info().fixed_bytes ? coders::index_bytes(*m_coding.index.coder, layout.count(), kept)
                                             : coders::index_capacity_bytes(m_coding.index, layout.count(), kept);
  return indices + m_coding.values->bytes(kept);
}

/// Sets the targets of this step, and makes the selections that need no search.
void Sparsifier::begin(const Exec& exec, SparseState& state, const Context& context) const {
  state.density = m_density.at(context.step);
  for (std::size_t s = 0; s < state.target.size(); ++s) {
    const Segment& segment = state.layout.segments[s];
    state.target[s] = target(state.density, segment);
    const bool small = static_cast<double>(segment.count) < std::max(1024.0, 2 / state.density);
    state.wanted(s) = {state.target[s], max_entries(state.density, segment), small ? 1 : 0};
  }
  begin_search(exec, state.searched(), state.wanted, state.open, sends_zeros(), context.host_looks);
}

Message Sparsifier::produce(const Exec& exec, int, const Step& step, State& state) const {
  auto& own = state.as<SparseState>();
  const Source& source = step.source;
  const bool host_looks = step.context.host_looks;
  own.first.launch(exec, own.tiles, source, own.selector.expect(source));
  const auto flag = [&] { return send_flag(exec, own, header(source.count, 0), own.payload); };
  if (host_looks && own.first.seen_non_finite() > 0) return flag();
  begin(exec, own, step.context);
  search(exec, source, own, step.context);
  own.selector.choose(exec, own.tiles, source, own.first, host_looks);
  if (own.selector.non_finite() > 0) return flag();
  for (std::size_t s = 0; s < own.kept.size(); ++s) own.kept[s] = own.selector.chosen()(s).kept;
  const Message message = emit(exec, source, own);
  record(own);
  return message;
}

/// Writes the payload of the chosen entries, and reports as sent what receivers decode.
Message Sparsifier::emit(const Exec& exec, const Source& source, SparseState& state) const {
  Message message;
  const index_t kept = state.selector.kept();
  const bool exact = info().sends_values;
  Source silent = source;
  silent.kind = Source::Kind::none;  // it remembers nothing; the selector reads its own candidates
  message.kind = MessageKind::bytes;
  message.payload = state.payload;
  const coders::SparseTarget target = state.coder.target(message.payload, kept);
  state.selector.emit(exec, state.tiles, exact ? source : silent, target.indices, target.values);
  if (!exact) change_values(exec, target.indices, target.values, kept, state);
  message.size = state.coder.encode(exec, header(state.layout.count(), kept), target.indices, target.values, kept,
                                    message.payload);
  message.sparse = {target.indices, target.values, kept};
  if (!exact) report_sent(exec, source, message.sparse);
  return message;
}

void Sparsifier::decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const {
  state.as<SparseState>().coder.decode_add(exec, received, header(state.layout.count(), 0), info().name, out);
}

void Sparsifier::decode_sum(const Exec& exec, std::span<const Received> messages, State& state,
                            const Span<float>& out) const {
  const auto& coder = state.as<SparseState>().coder;
  if (!coder.in_place()) return Compressor::decode_sum(exec, messages, state, out);
  coder.decode_sum(exec, messages, header(state.layout.count(), 0), out);
}

Parameter variant_parameter(const std::string& fixed) {
  return Parameter::choice("variant", "fixed", {"fixed", "paper"}, "paper: as the authors wrote it; fixed: " + fixed);
}

index_t max_sent(double density, index_t n, bool paper) { return paper ? n : std::min(n, 2 * target_kept(density, n)); }

Info sparsifier_info(const std::string& name, const std::string& summary, const std::string& paper,
                     std::vector<Parameter> own) {
  Info info;
  info.name = name;
  info.summary = summary;
  info.paper = paper;
  info.family = Info::Family::sparsifier;
  info.host_sizes = true;
  info.property = Info::Property::contraction;
  info.rounds = {MessageKind::bytes};
  info.reducer = "allgather";
  info.sparse = true;
  info.feedback = "residual";
  info.feedbacks = {"none", "residual", "momentum_correction", "ef21"};
  info.parameters = std::move(own);
  auto common = warmup_parameters();
  for (auto& parameter : coders::sparse_coding_parameters()) common.push_back(std::move(parameter));
  for (auto& parameter : common) {
    const bool declared = std::any_of(info.parameters.begin(), info.parameters.end(),
                                      [&](const Parameter& p) { return p.name == parameter.name; });
    if (!declared) info.parameters.push_back(std::move(parameter));
  }
  info.bytes_formula = "8 kept; other coders: coders/index_coders, coders/value_coders";
  info.compress = {1, 0, 1};
  return info;
}

Message send_flag(const Exec& exec, State& state, PayloadHeader header, const Span<std::byte>& payload) {
  std::fill(state.kept.begin(), state.kept.end(), 0);
  header.kept = 0;
  header.flags = PayloadHeader::flag_diverged;
  write_header(exec, header, payload);
  Message message;
  message.kind = MessageKind::bytes;
  message.payload = payload;
  message.size = payload_header_bytes;
  return message;
}

}  // namespace gradcomp::compressors
