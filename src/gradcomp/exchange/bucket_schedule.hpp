#pragma once
// What all schedules over buckets share: the buckets with their reducers and feedback, the report, the skipping of a
// flagged step. A schedule adds when the rounds of each bucket are launched and completed.
#include <memory>
#include <vector>

#include "gradcomp/comm/counting.hpp"
#include "gradcomp/exchange/buckets.hpp"
#include "gradcomp/exchange/reducer.hpp"
#include "gradcomp/exchange/schedule.hpp"
#include "gradcomp/feedback/feedback.hpp"

namespace gradcomp {

class BucketSchedule : public Schedule {
 public:
  /// `comm` is this schedule's own.
  BucketSchedule(const MethodSpec& method, const Layout& layout, std::unique_ptr<CountingCommunicator> comm,
                 const ScheduleOptions& options);

  void begin_step(const Exec& exec, const Span<const float>& gradient, std::int64_t step, Timeline* timeline) override;
  std::vector<StateView> persistent() override;
  index_t work_bytes() override;
  std::vector<BucketRange> buckets() const override;

 protected:
  struct Bucket {
    BucketRange range;
    Feedback feedback;
    std::unique_ptr<Reducer> reducer;
  };

  /// Reducer::launch(), with the bucket's source made before round 0: its gradient is complete only now.
  void launch(const Exec& exec, Bucket& bucket, int round);

  /// The part of the model's gradient that belongs to `bucket`.
  static Span<float> part(const Bucket& bucket, const Span<float>& mean) {
    return subspan(mean, bucket.range.offset, bucket.range.count);
  }

  /// Ends the step once all buckets are finished: gives all of them back when one was flagged, and reports.
  StepReport close(const Exec& exec, const Span<float>& mean, bool flagged);

  int m_rounds = 1;               ///< of every reducer
  std::vector<Bucket> m_buckets;  ///< in the order in which backward completes them

 private:
  std::shared_ptr<const Compressor> m_compressor;
  std::unique_ptr<CountingCommunicator> m_comm;
  std::uint64_t m_seed = 1;
  Span<const float> m_gradient;  ///< of this step, and its context
  Context m_context;
  Timeline* m_timeline = nullptr;
  index_t m_count = 0;        ///< elements of the model
  index_t m_sent_before = 0;  ///< wire bytes before this step
};

}  // namespace gradcomp
