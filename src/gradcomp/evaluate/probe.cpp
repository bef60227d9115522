#include "gradcomp/evaluate/probe.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gradcomp/exchange/reduction.hpp"

namespace gradcomp::evaluate {
namespace {

using HostArray = Kokkos::View<const float*, Kokkos::HostSpace>;

/// `count` floats at `device` on the host; no copy where device memory is host memory.
HostArray on_host(const float* device, std::size_t count) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Kokkos::View<const float*, Memory>(device, count));
}

/// The tensors, or one vector of them all. A vector has no rows and columns: low-rank methods see it as a matrix, as
/// gradcomp-allreduce shows it to them.
Layout seen_by(const MethodSpec& spec, const Layout& layout) {
  const bool vector = layout.segments.size() == 1 && !layout.segments[0].is_matrix();
  if (vector && spec.compressor->info().family == Info::Family::low_rank) return layer_like(layout.count());
  return spec.common.text("granularity") == "bucket" ? layout.fused() : layout;
}

double log2_binomial(double n, double k) {
  return (std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)) / std::log(2.0);
}

double total(const std::vector<index_t>& values) {
  return static_cast<double>(std::accumulate(values.begin(), values.end(), index_t{0}));
}

/// The same method with feedback=residual; nothing where it refuses that.
std::optional<MethodSpec> with_residual(const std::string& spec) {
  try {
    return parse_method(with_option(spec, "feedback", "residual"));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

bool adds_up(std::span<const float> seen, std::span<const float> decoded, std::span<const float> rest, double slack) {
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const double a = seen[i], d = decoded[i], r = rest[i];
    if (!(std::fabs(d + r - a) <= 1e-6 * (std::fabs(a) + std::fabs(d) + std::fabs(r)) + slack))
      return false;  // NaN too
  }
  return true;
}

Probe::Probe(const std::string& spec, const Layout& layout, const ProbeOptions& options)
    : m_options(options),
      m_spec(parse_method(options.closed ? spec : with_option(spec, "feedback", "none"))),
      m_checked(with_residual(spec)),
      m_layout(seen_by(m_spec, layout)) {
  const MethodSpec given = parse_method(spec);  // names as the user typed them
  m_spec.text = given.text;
  m_spec.label = given.label;
  if (options.closed) m_run = std::make_unique<ProbeRun>(m_spec, m_layout);
}

std::vector<float> Probe::decoded() const {
  const auto host = on_host(m_run->out.data(), m_run->out.size());
  return {host.data(), host.data() + host.size()};
}

void Probe::step(const Exec& exec, const Span<const float>& gradient, ReadProbe& read) {
  if (!m_options.closed) m_run = std::make_unique<ProbeRun>(m_spec, m_layout);
  const Source source = m_run->feedback.source(gradient);
  remember(source, gradient);
  if (m_options.closed && m_step == 1)
    m_result.read_ms.clear(), m_result.compress_ms.clear(), m_result.decompress_ms.clear();
  const double read_seconds = m_options.closed ? read.seconds(exec, gradient) : 0;
  m_run->step(exec, source, context(), m_options.keep_bytes ? &m_message : nullptr);
  if (m_options.closed) {
    m_result.read_ms.push_back(1e3 * read_seconds);
    m_result.compress_ms.push_back(m_run->compress_ms);
    m_result.decompress_ms.push_back(m_run->decompress_ms);
  }
  if (source.has_memory()) {
    compare(source.memory, source.kind == Source::Kind::residual);
  } else {
    check(exec, gradient);
  }
  describe();
  if (!m_options.closed) time(exec, gradient, read);
  ++m_step;
}

void Probe::remember(const Source& source, const Span<const float>& gradient) {
  const HostArray g = on_host(gradient.data(), gradient.size());
  m_accumulated.assign(g.data(), g.data() + g.size());
  if (source.kind != Source::Kind::residual) return;
  const HostArray r = on_host(source.memory, gradient.size());
  for (std::size_t i = 0; i < g.size(); ++i) m_accumulated[i] = source.beta * r(i) + source.gamma * g(i);
}

/// What was kept and sent.
void Probe::describe() {
  const State& state = *m_run->state;
  m_result.payload_bytes.push_back(static_cast<double>(m_run->payload_bytes));
  m_result.header_bytes.push_back(static_cast<double>(m_run->header_bytes));
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
    m_result.entropy_bits.push_back(log2_binomial(static_cast<double>(m_layout.count()), kept));
  }
  m_result.density_ratio.push_back(std::move(ratios));
}

/// Holds what was decoded against what the compressor saw, with `memory` for what it did not send. Where the feedback
/// is not of a `known` kind, decoded + memory is what it saw.
void Probe::compare(const float* memory, bool known) {
  const HostArray out = on_host(m_run->out.data(), m_run->out.size());
  double error = 0, norm = 0, product = 0, out_norm = 0;
  HostArray rest;
  if (memory != nullptr) rest = on_host(memory, out.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (memory != nullptr && !known) m_accumulated[i] = out(i) + rest(i);
    const double a = m_accumulated[i], d = out(i);
    error += (a - d) * (a - d);
    norm += a * a;
    out_norm += d * d;
    product += a * d;
  }
  m_result.l2_error.push_back(norm > 0 ? std::sqrt(error / norm) : 0);
  m_result.cosine.push_back(product / std::sqrt(norm * out_norm));
  if (memory == nullptr || !known) return;
  // Selections and quantisers lose a unit of the last place in a - decoded; products are summed in another order.
  const bool products = m_spec.compressor->info().family == Info::Family::low_rank;
  const double slack = products ? 1e-4 * std::sqrt(norm / std::max<double>(1, static_cast<double>(out.size()))) : 0;
  const bool good = adds_up(m_accumulated, {out.data(), out.size()}, {rest.data(), rest.size()}, slack);
  m_result.verified = m_result.verified.value_or(true) && good;
}

/// Without a memory nobody knows what was not sent: a second run, with feedback from an empty memory, sends the same
/// and keeps the rest.
void Probe::check(const Exec& exec, const Span<const float>& gradient) {
  if (!m_checked) return compare(nullptr, false);
  try {
    if (!m_check || !m_options.closed) m_check = std::make_unique<ProbeRun>(*m_checked, m_layout);
    m_check->feedback = Feedback(m_checked->common, m_layout.count());
    const Source source = m_check->feedback.source(gradient);
    m_check->step(exec, source, context(), nullptr);
    const bool plain = source.beta == 1 && source.gamma == 1;
    compare(plain ? source.memory : nullptr, true);
    if (!m_options.closed) m_check.reset();  // as large as the gradient several times over
  } catch (const Error&) {
    compare(nullptr, false);  // the method refuses feedback with these options
  }
}

/// Times an open-loop gradient on a run of its own, so that what adapts from call to call shows in no statistic.
void Probe::time(const Exec& exec, const Span<const float>& gradient, ReadProbe& read) {
  ProbeRun run(m_spec, m_layout);
  const Source source = run.feedback.source(gradient);
  for (index_t t = 0; t <= m_options.timings; ++t) {
    const double seconds = read.seconds(exec, gradient);
    run.step(exec, source, context(), nullptr);
    if (t == 0) continue;  // cold
    m_result.read_ms.push_back(1e3 * seconds);
    m_result.compress_ms.push_back(run.compress_ms);
    m_result.decompress_ms.push_back(run.decompress_ms);
  }
}

}  // namespace gradcomp::evaluate
