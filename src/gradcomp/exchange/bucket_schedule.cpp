#include "gradcomp/exchange/bucket_schedule.hpp"

#include <utility>

namespace gradcomp {

BucketSchedule::BucketSchedule(const MethodSpec& method, const Layout& layout,
                               std::unique_ptr<CountingCommunicator> comm, const ScheduleOptions& options)
    : m_compressor(method.compressor), m_comm(std::move(comm)), m_seed(options.seed), m_count(layout.count()) {
  const bool fuse = method.common.text("granularity") == "bucket";
  for (const BucketRange& range : cut_buckets(layout, options.bucket_bytes)) {
    const Layout tensors = layout.slice(range.first, range.last);
    m_buckets.push_back({range, Feedback(method.common, range.count),
                         make_reducer(method.common, *m_compressor, fuse ? tensors.fused() : tensors, *m_comm)});
    m_rounds = m_buckets.back().reducer->rounds();
  }
}

void BucketSchedule::begin_step(const Exec&, const Span<const float>& gradient, std::int64_t step, Timeline* timeline) {
  require(static_cast<index_t>(gradient.size()) == m_count, "begin_step: a gradient of {} elements, expected {}",
          gradient.size(), m_count);
  m_gradient = gradient;
  m_context = {m_seed, step, m_comm->rank(), m_comm->size()};
  m_timeline = timeline;
  m_sent_before = m_comm->total().sent;
}

void BucketSchedule::launch(const Exec& exec, Bucket& bucket, int round) {
  if (round == 0) {
    const auto gradient = subspan(m_gradient, bucket.range.offset, bucket.range.count);
    bucket.reducer->begin(bucket.feedback.source(exec, gradient, m_context.ranks), m_context, m_timeline);
  }
  bucket.reducer->launch(exec, round);
}

StepReport BucketSchedule::close(const Exec& exec, const Span<float>& mean, bool flagged) {
  StepReport report;
  report.skipped = flagged;
  for (auto& bucket : m_buckets) {
    if (flagged) {
      bucket.reducer->give_back(exec, part(bucket, mean));
    } else {
      bucket.feedback.settle(exec, part(bucket, mean));
    }
    report.payload_bytes += bucket.reducer->bytes().payload;
    report.header_bytes += bucket.reducer->bytes().header;
    const State& state = bucket.reducer->state();
    for (std::size_t i = 0; i < state.target.size(); ++i) {
      if (state.target[i] <= 0) continue;
      report.density_ratio.push_back(static_cast<double>(state.kept[i]) / static_cast<double>(state.target[i]));
    }
  }
  report.wire_bytes = m_comm->total().sent - m_sent_before;
  return report;
}

std::vector<StateView> BucketSchedule::persistent() {
  std::vector<StateView> views;
  for (std::size_t b = 0; b < m_buckets.size(); ++b) {
    const auto add = [&](StateView view) {
      view.name = fmt::format("bucket{}/{}", b, view.name);
      views.push_back(std::move(view));
    };
    for (auto& view : m_buckets[b].feedback.persistent()) add(view);
    for (auto& view : m_buckets[b].reducer->persistent()) add(view);
  }
  return views;
}

index_t BucketSchedule::work_bytes() {
  index_t sum = 0;
  for (auto& bucket : m_buckets) {
    sum += bucket.reducer->state().scratch_bytes() + bucket.reducer->buffer_bytes() + bucket.feedback.scratch_bytes();
  }
  return sum;
}

std::vector<BucketRange> BucketSchedule::buckets() const {
  std::vector<BucketRange> ranges;
  for (const auto& bucket : m_buckets) ranges.push_back(bucket.range);
  return ranges;
}

}  // namespace gradcomp
