#include "gradcomp/strategy/detail/every_step.hpp"

#include <algorithm>

namespace gradcomp {

std::vector<Parameter> with_common(std::vector<Parameter> own) {
  own.push_back(
      Parameter::integer("bucket_kib", "0", 0, 1 << 24, "KiB of gradient in a bucket; 0: the value of --bucket-kib"));
  return own;
}

ExchangeOptions exchange_options(const StrategySetup& setup, bool overlapped) {
  ExchangeOptions options = setup.job.exchange;
  options.overlapped = overlapped;
  if (const index_t own = setup.own.integer("bucket_kib"); own > 0) options.bucket_bytes = 1024 * own;
  return options;
}

std::vector<index_t> parts_of(const Exchange& exchange) {
  std::vector<index_t> parts;
  for (const BucketRange& range : exchange.buckets()) parts.push_back(range.count);
  std::reverse(parts.begin(), parts.end());
  return parts;
}

EveryStep::EveryStep(const StrategySetup& setup, bool overlapped)
    : m_overlapped(overlapped),
      m_seed(setup.job.exchange.seed),
      m_exchange(make_exchange(setup.method, setup.layout, setup.transport, exchange_options(setup, overlapped))),
      m_updater(setup.layout, parts_of(*m_exchange), setup.job.update) {
  if (setup.job.keep_gradient || !m_exchange->in_place()) {
    m_mean = Vector<float>("gradcomp::strategy::mean", static_cast<std::size_t>(setup.layout.count()));
  }
}

void EveryStep::begin(const Exec& exec, const StepContext& context) {
  m_now = context;
  const Span<float> mean = m_mean.size() > 0 ? Span<float>(m_mean) : context.gradient;
  m_exchange->begin(exec, context.gradient, mean, context.context(m_exchange->transport(), m_seed), context.timeline);
}

StepReport EveryStep::end(const Exec& exec, const Idle& idle) {
  const Span<float> mean = m_mean.size() > 0 ? Span<float>(m_mean) : m_now.gradient;
  m_exchange->finish(exec, idle);
  const StageScope stage(exec, m_now.timeline, Stage::update);
  for (const BucketRange& range : m_exchange->buckets()) {
    m_updater.observe(exec, range.offset, subspan(mean, range.offset, range.count));
  }
  m_updater.apply(exec, m_now.rate, m_now.parameters, mean);
  return m_exchange->report();
}

Memories EveryStep::memories() {
  Memories all = m_exchange->memories();
  for (MemoryView& memory : m_updater.memories()) all.push_back(std::move(memory));
  return all;
}

index_t EveryStep::work_bytes() const { return m_exchange->work_bytes() + 4 * static_cast<index_t>(m_mean.size()); }

}  // namespace gradcomp
