#include "gradcomp/exchange/overlapped.hpp"

#include <utility>

#include "gradcomp/comm/queued.hpp"

namespace gradcomp {
namespace {

class Overlapped final : public BucketSchedule {
 public:
  using BucketSchedule::BucketSchedule;

  std::string name() const override { return "overlapped"; }

  void begin_step(const Exec& exec, const Span<const float>& gradient, std::int64_t step, Timeline* timeline) override {
    BucketSchedule::begin_step(exec, gradient, step, timeline);
    m_launched = 0;
  }

  void on_ready(const Exec& exec, std::size_t first_segment) override {
    while (m_launched < m_buckets.size() && m_buckets[m_launched].range.first >= first_segment) {
      launch(exec, m_buckets[m_launched++], 0);
    }
  }

  StepReport end_step(const Exec& exec, const Span<float>& mean) override {
    on_ready(exec, 0);
    bool flagged = false;
    for (int round = 0; round < m_rounds; ++round) {
      for (auto& bucket : m_buckets) {
        bucket.reducer->complete(exec, round);
        if (round + 1 < m_rounds) {
          launch(exec, bucket, round + 1);
        } else {
          flagged = !bucket.reducer->finish(exec, part(bucket, mean)) || flagged;
        }
      }
    }
    return close(exec, mean, flagged);
  }

 private:
  std::size_t m_launched = 0;  ///< buckets whose round 0 is under way
};

}  // namespace

std::unique_ptr<Schedule> make_overlapped(const MethodSpec& method, const Layout& layout,
                                          std::unique_ptr<Communicator> comm, const ScheduleOptions& options) {
  // counting outside the queue: its counts then belong to the calling thread
  return std::make_unique<Overlapped>(method, layout, make_counting(make_queued(std::move(comm))), options);
}

}  // namespace gradcomp
