#include "gradcomp/exchange/exchange.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "gradcomp/comm/agree.hpp"
#include "gradcomp/comm/queued.hpp"
#include "gradcomp/exchange/detail/fill_wait.hpp"

namespace gradcomp {
namespace {

/// Names, shapes and order of the tensors in one line.
std::string describe(const Layout& layout) {
  std::string all;
  for (const auto& segment : layout.segments) all += fmt::format("{}:{}:{};", segment.id, segment.name, segment.shape);
  return fmt::format("{} tensors, {} elements, hash {:08x}", layout.segments.size(), layout.count(),
                     text_hash(all.c_str()));
}

}  // namespace

std::vector<BucketRange> buckets_of(const Layout& layout, const ExchangeOptions& options) {
  return options.bucket_bytes > 0 ? cut_buckets(layout, options.bucket_bytes) : cut_buckets(layout);
}

Exchange::Exchange(const MethodSpec& method, const Layout& layout, std::unique_ptr<CountingTransport> transport,
                   const ExchangeOptions& options)
    : m_method(method),
      m_transport(std::move(transport)),
      m_count(layout.count()),
      m_ranges(buckets_of(layout, options)) {
  if (options.overlapped) m_side.emplace();
  for (const BucketRange& range : m_ranges) {
    const auto number = static_cast<int>(m_reductions.size());
    m_reductions.push_back(
        std::make_unique<Reduction>(m_method, layout.slice(range.first, range.last), *m_transport, m_faults, number));
    m_rounds = m_reductions.back()->rounds();
  }
}

void Exchange::begin(const Exec&, const Span<const float>& gradient, const Span<float>& mean, const Context& context,
                     Timeline* timeline) {
  require(static_cast<index_t>(gradient.size()) == m_count && gradient.size() == mean.size(),
          "exchange: a gradient of {} elements and a mean of {}, expected {}", gradient.size(), mean.size(), m_count);
  m_gradient = gradient;
  m_mean = mean;
  m_context = context;
  m_timeline = timeline;
  m_launched = 0;
  m_sent_before = sent();
}

/// Launches the next round of a bucket; before the first one its gradient is complete.
void Exchange::launch(const Exec& exec, std::size_t bucket) {
  Reduction& reduction = *m_reductions[bucket];
  if (bucket >= m_launched) {
    const BucketRange& range = m_ranges[bucket];
    reduction.begin(exec, subspan(m_gradient, range.offset, range.count), subspan(m_mean, range.offset, range.count),
                    m_context, m_timeline);
    m_launched = bucket + 1;
  }
  reduction.launch(exec);
}

void Exchange::complete(const Exec& exec, std::size_t bucket, const Idle& idle) {
  Reduction& reduction = *m_reductions[bucket];
  if (idle) fill_wait(m_idle_portion, m_timeline, idle, [&] { return reduction.arrived(); });
  reduction.complete(exec);
  if (reduction.done()) reduction.finish(exec);
}

void Exchange::gradient_ready(const Exec& exec, std::size_t first_segment) {
  const auto next_is_ready = [&] {
    return m_launched < m_ranges.size() && m_ranges[m_launched].first >= first_segment;
  };
  if (!m_side || !next_is_ready()) return;
  const Exec& side = after(exec);
  while (next_is_ready()) launch(side, m_launched);
}

void Exchange::finish(const Exec& exec, const Idle& idle) {
  gradient_ready(exec, 0);
  const Exec& side = after(exec);
  if (m_side) {
    for (int round = 0; round < m_rounds; ++round) {
      for (std::size_t bucket = 0; bucket < m_ranges.size(); ++bucket) {
        complete(side, bucket, idle);
        if (round + 1 < m_rounds) launch(side, bucket);
      }
    }
  } else {
    for (std::size_t bucket = 0; bucket < m_ranges.size(); ++bucket) {
      for (int round = 0; round < m_rounds; ++round) {
        launch(side, bucket);
        complete(side, bucket, idle);
      }
    }
  }
  m_faults.fetch(side);
  join(exec);
}

StepReport Exchange::report() const {
  StepReport report;
  for (const auto& reduction : m_reductions) add(report, *reduction);
  report.wire_bytes = sent() - m_sent_before;
  return report;
}

void append_density(const Sender& sender, std::vector<double>& ratios) {
  for (std::size_t stripe = 0; stripe < sender.stripes().size(); ++stripe) {
    const State& state = sender.state(stripe);
    for (std::size_t i = 0; i < state.target.size(); ++i) {
      if (state.target[i] <= 0) continue;
      ratios.push_back(static_cast<double>(state.kept[i]) / static_cast<double>(state.target[i]));
    }
  }
}

void add(StepReport& report, const Reduction& bucket) {
  const MessageBytes bytes = bucket.bytes();
  report.payload_bytes += bytes.payload;
  report.header_bytes += bytes.header;
  append_density(bucket.sender(), report.density_ratio);
}

Memories Exchange::memories() {
  Memories all;
  for (std::size_t b = 0; b < m_reductions.size(); ++b) {
    for (MemoryView& memory : m_reductions[b]->memories()) {
      memory.bucket = static_cast<int>(b);
      all.push_back(std::move(memory));
    }
  }
  return all;
}

index_t Exchange::work_bytes() const {
  index_t sum = 0;
  for (const auto& reduction : m_reductions) sum += reduction->work_bytes();
  return sum;
}

void require_same_exchange(const MethodSpec& method, const Layout& layout, Transport& transport,
                           const ExchangeOptions& options, const std::string& how) {
  require_same_on_all_ranks(transport, "method", method.canonical);
  require_same_on_all_ranks(transport, "model's layout", describe(layout));
  require_same_on_all_ranks(transport, "exchange",
                            fmt::format("{}, {}, seed {}, {} ranks", how, describe(buckets_of(layout, options)),
                                        options.seed, transport.size()));
}

std::unique_ptr<Exchange> make_exchange(const MethodSpec& method, const Layout& layout, Transport& transport,
                                        const ExchangeOptions& options) {
  require_same_exchange(method, layout, transport, options, options.overlapped ? "overlapped" : "synchronous");
  auto own = transport.split(0, transport.rank());
  std::unique_ptr<Exchange> exchange;
  run_collectively(transport, [&] {
    if (options.overlapped || options.limit_seconds > 0) own = make_queued(std::move(own), options.limit_seconds);
    exchange = std::make_unique<Exchange>(method, layout, make_counting(std::move(own)), options);
  });
  return exchange;
}

}  // namespace gradcomp
