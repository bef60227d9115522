#include "gradcomp/sampling/detail/group_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/sampler.hpp"
#include "gradcomp/sampling/draw.hpp"

namespace gradcomp::sampling {
namespace {

/// Makes the order of evaluations different from that of uniform batches with the same seed.
constexpr std::uint64_t order_stream = 0x4D52ULL << 48U;

}  // namespace

Rule smoothed(double smoothing) {
  return [smoothing](std::span<const float> losses, double mean) { return probabilities(losses, smoothing * mean); };
}

GroupSampler::GroupSampler(const SamplerSetup& setup, const GroupOptions& options)
    : m_options(options),
      m_batch(setup.batch),
      m_seed(setup.seed),
      m_rank(setup.transport.rank()),
      m_resharder(setup.transport, options.reshard_tolerance, options.reshard_max),
      m_samples(setup.samples),
      m_losses(m_samples.size(), std::numeric_limits<float>::quiet_NaN()) {
  const index_t slices = (std::ssize(m_samples) + options.slice - 1) / options.slice;
  m_options.max_slices = std::min(options.max_slices, slices);
  m_options.min_slices = std::min(options.min_slices, m_options.max_slices);
  m_group.resize(static_cast<std::size_t>(std::min(m_options.max_slices * options.slice, std::ssize(m_samples))));
  m_group_losses.resize(m_group.size());
}

void GroupSampler::draw(index_t step, WeightedBatch& batch) {
  if (m_probabilities.empty()) {
    m_probabilities = m_options.rule(group_losses(), m_numbers.mean);
    m_weights = unbiased_weights(m_probabilities, group_losses());
  }
  const auto drawn = sampling::draw(m_probabilities, m_batch, m_seed, step, m_rank);
  batch.samples.clear();
  batch.weights.clear();
  for (const index_t i : drawn) {
    batch.samples.push_back(m_samples[static_cast<std::size_t>(m_group[static_cast<std::size_t>(i)])]);
    if (m_options.weighted) batch.weights.push_back(m_weights[static_cast<std::size_t>(i)]);
  }
}

void GroupSampler::begin(index_t step) {
  const bool renews = !ready() || (step + 1) % m_options.every == 0;
  m_min = renews ? m_options.min_slices : 0;
  m_max = renews ? m_options.max_slices : 0;
  if (ready() && step < std::ssize(m_replayed)) {
    m_min = m_max = std::min(m_replayed[static_cast<std::size_t>(step)], m_options.max_slices);
  }
  m_slices = 0;
  m_next.clear();
  m_next_losses.clear();
}

/// Takes the next places of the order. A slice ends where the pass ends.
void GroupSampler::take_slice() {
  if (m_numbers.cursor == std::ssize(m_samples)) {
    m_numbers.cursor = 0;
    ++m_numbers.pass;
  }
  if (m_order_pass != m_numbers.pass) {
    m_order = data::shuffled(std::ssize(m_samples), m_seed ^ order_stream, m_numbers.pass);
    m_order_pass = m_numbers.pass;
  }
  const index_t end = std::min(m_numbers.cursor + m_options.slice, std::ssize(m_samples));
  m_slice.clear();
  for (; m_numbers.cursor < end; ++m_numbers.cursor) {
    m_next.push_back(m_order[static_cast<std::size_t>(m_numbers.cursor)]);
    m_slice.push_back(m_samples[static_cast<std::size_t>(m_next.back())]);
  }
}

bool GroupSampler::evaluate_slice(const EvaluateLosses& evaluate) {
  if (m_slices == m_max) return false;
  take_slice();
  m_next_losses.resize(m_next.size());
  const std::span<float> losses = std::span(m_next_losses).last(m_slice.size());
  evaluate(m_slice, losses);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    m_losses[static_cast<std::size_t>(m_next[m_next.size() - losses.size() + i])] = losses[i];
  }
  ++m_slices;
  return true;
}

index_t GroupSampler::finish(const EvaluateLosses& evaluate) {
  while (m_slices < m_min) evaluate_slice(evaluate);
  if (!m_next.empty()) close_group();
  m_max = m_slices;
  return m_slices;
}

void GroupSampler::close_group() {
  std::copy(m_next.begin(), m_next.end(), m_group.begin());
  std::copy(m_next_losses.begin(), m_next_losses.end(), m_group_losses.begin());
  m_numbers.group = std::ssize(m_next);
  m_probabilities.clear();
  const double mean = mean_of_finite(m_next_losses);
  if (std::isnan(mean)) return;
  m_numbers.mean = m_numbers.means++ == 0 ? mean : m_options.decay * m_numbers.mean + (1 - m_options.decay) * mean;
}

Resharded GroupSampler::reshard(const Exec& exec) {
  const Resharded moved = m_resharder.swap(exec, m_samples, m_losses);
  for (index_t i = 0; i < m_numbers.group; ++i) {  // members that left have been replaced, with their losses
    const auto at = static_cast<std::size_t>(i);
    m_group_losses[at] = m_losses[static_cast<std::size_t>(m_group[at])];
  }
  m_probabilities.clear();
  return moved;
}

Memories GroupSampler::memories() {
  m_probabilities.clear();  // what is read next may be that of a checkpoint
  m_order_pass = -1;
  const auto view = [](const char* name, auto& values) {
    return MemoryView{name, values.data(), static_cast<index_t>(values.size() * sizeof values[0]),
                      true, Role::sampler, -1};
  };
  MemoryView group = view("group", m_group);
  group.valid = [this] {
    return std::all_of(m_group.begin(), m_group.end(),
                       [&](index_t place) { return place >= 0 && place < std::ssize(m_samples); });
  };
  return {view("samples", m_samples),
          view("losses", m_losses),
          std::move(group),
          view("group_losses", m_group_losses),
          {"numbers", &m_numbers, sizeof m_numbers, true, Role::sampler, -1, [this] { return numbers_fit(); }}};
}

bool GroupSampler::numbers_fit() const {
  const Numbers& n = m_numbers;
  return is_count(n.pass) && n.cursor >= 0 && n.cursor <= std::ssize(m_samples) && n.group >= 0 &&
         n.group <= std::ssize(m_group) && is_count(n.means) &&
         std::abs(n.mean) <= static_cast<double>(std::numeric_limits<float>::max());  // false if it is NaN
}

std::vector<Parameter> with_resharding(std::vector<Parameter> own) {
  own.push_back(Parameter::integer("reshard", "0", 0, 1e9,
                                   "steps from one exchange of samples between ranks to the next; 0: no exchange"));
  own.push_back(Parameter::integer("reshard_samples", "64", 1, 1e6,
                                   "largest number of samples that move to another rank in one exchange"));
  own.push_back(Parameter::real("reshard_tolerance", "0.05", 0, 1,
                                "allowed deviation of a rank's sum of losses from the mean over ranks, relative to "
                                "this mean"));
  return own;
}

void read_resharding(const ParameterValues& own, GroupOptions& options) {
  options.reshard_every = own.integer("reshard");
  options.reshard_max = own.integer("reshard_samples");
  options.reshard_tolerance = own.real("reshard_tolerance");
}

}  // namespace gradcomp::sampling
