#include "gradcomp/evaluate/method_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gradcomp/coders/index_coding.hpp"
#include "gradcomp/exchange/one_rank.hpp"
#include "gradcomp/feedback/seen.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::evaluate {
namespace {

/// The layout that the method sees. A vector has no rows and columns: low-rank methods see it as a matrix, as in
/// gradcomp-allreduce.
Layout shaped(const MethodSpec& spec, const Layout& layout) {
  const bool vector = layout.segments.size() == 1 && !layout.segments[0].is_matrix();
  if (vector && spec.compressor->info().family == Info::Family::low_rank) return layer_like(layout.count());
  return seen_by(spec, layout);
}

double total(const std::vector<index_t>& values) {
  return static_cast<double>(std::accumulate(values.begin(), values.end(), index_t{0}));
}

/// The same method with another feedback; nothing if it refuses that feedback.
std::optional<MethodSpec> with_feedback(const std::string& spec, const char* kind) {
  try {
    return parse_method(with_option(spec, "feedback", kind));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

MethodEvaluation::MethodEvaluation(const std::string& spec, const Layout& layout,
                                   const MethodEvaluationOptions& options)
    : m_options(options),
      m_spec(parse_method(spec)),
      m_checked(with_feedback(spec, "residual")),
      m_layout(shaped(m_spec, layout)) {
  const std::string text = m_spec.text, label = m_spec.label;  // as the user typed them
  // A method that cannot do without feedback starts from an empty memory with every gradient.
  if (!options.closed) m_spec = with_feedback(spec, "none").value_or(m_spec);
  m_spec.text = text;
  m_spec.label = label;
  if (options.closed) m_run = std::make_unique<OneRankRun>(m_spec, m_layout, m_options.seed);
}

std::vector<float> MethodEvaluation::decoded() const { return m_run->decoded(); }

void MethodEvaluation::step(const Exec& exec, const Span<const float>& gradient, ReadProbe& read) {
  if (!m_options.closed) m_run = std::make_unique<OneRankRun>(m_spec, m_layout, m_options.seed);
  const Source source = m_run->source(exec, gradient);
  const bool difference = source.kind == Source::Kind::ef21;
  m_seen = seen_by_compressor(exec, source);
  if (difference) m_before = copied(source.memory, gradient.size());
  if (m_options.closed && m_step == 1) {  // the first step was cold
    m_result.read_ms.clear(), m_result.compress_ms.clear(), m_result.decompress_ms.clear();
  }
  const double read_seconds = m_options.closed ? read.seconds(exec, gradient) : 0;
  m_run->step(exec, gradient, m_step, m_options.keep_bytes ? &m_message : nullptr);
  if (m_options.closed) {
    m_result.read_ms.push_back(1e3 * read_seconds);
    m_result.compress_ms.push_back(m_run->compress_ms);
    m_result.decompress_ms.push_back(m_run->decompress_ms);
  }
  compare();
  if (difference) {  // the memory is what was decoded so far
    verify(copied(source.memory, gradient.size()), decoded(), m_before);
  } else if (source.has_memory()) {
    verify(m_seen, decoded(), copied(source.memory, gradient.size()));
  } else {
    check(exec, gradient);
  }
  describe();
  if (!m_options.closed) {
    time(exec, gradient, read);
    try_often(exec, gradient);
  }
  ++m_step;
}

/// What was kept and sent.
void MethodEvaluation::describe() {
  const State& state = m_run->rank.sender().state();
  m_result.payload_bytes.push_back(static_cast<double>(m_run->rank.payload_bytes()));
  m_result.header_bytes.push_back(static_cast<double>(m_run->rank.header_bytes()));
  std::vector<double> ratios;
  for (std::size_t s = 0; s < state.target.size(); ++s) {
    if (state.target[s] <= 0) continue;
    ratios.push_back(static_cast<double>(state.kept[s]) / static_cast<double>(state.target[s]));
  }
  if (!ratios.empty()) m_result.target.push_back(total(state.target));
  const bool sparse = !ratios.empty() || m_spec.compressor->info().family == Info::Family::sparsifier;
  if (sparse && !state.kept.empty()) {
    const double kept = total(state.kept);
    m_result.kept.push_back(kept);
    m_result.entropy_bits.push_back(kept * coders::entropy_bits(m_layout.count(), static_cast<index_t>(kept)));
  }
  m_result.density_ratio.push_back(std::move(ratios));
}

/// Times an open-loop gradient in a run of its own, so that a method that adapts from call to call does not change the
/// statistics.
void MethodEvaluation::time(const Exec& exec, const Span<const float>& gradient, ReadProbe& read) {
  OneRankRun run(m_spec, m_layout, m_options.seed);
  constexpr index_t untimed = 2;  // the first is cold, and makes what later calls use again
  for (index_t t = 0; t < untimed + m_options.timings; ++t) {
    const double seconds = read.seconds(exec, gradient);
    run.step(exec, gradient, m_step, nullptr);
    if (t < untimed) continue;
    m_result.read_ms.push_back(1e3 * seconds);
    m_result.compress_ms.push_back(run.compress_ms);
    m_result.decompress_ms.push_back(run.decompress_ms);
  }
  // the timed answer must be the checked one, unless a state has seen more steps here
  if (!run.rank.has_state() && run.decoded() != decoded()) m_result.verified = false;
}

/// The same gradient with fresh random numbers.
void MethodEvaluation::try_often(const Exec& exec, const Span<const float>& gradient) {
  if (m_options.trials == 0) return;
  const MethodSpec* const fed_back = m_checked ? &*m_checked : nullptr;
  run_trials(exec, m_spec, fed_back, m_layout, gradient, m_options.seed, m_options.trials, m_result.trials);
}

}  // namespace gradcomp::evaluate
